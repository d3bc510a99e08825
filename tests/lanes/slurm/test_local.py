"""The same launch without Slurm: both jobs as child processes, the same gates, and nothing left on any way out."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lanes.slurm.lab import LIMIT_S, SLICES, processes_with, wait_until
from lanes.slurm.site import CONFIG, HERE, WAITS, Launched, Site, bash
from skyrl_train.launch.directory import read_ended
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.slurm
ENV = {"LANE_GPUS": "0", "CUDA_VISIBLE_DEVICES": SLICES[0]}


def environ(site: Site) -> dict[str, str]:
    """No other program's Ray cluster on this machine is seen."""
    return {**ENV, "RAY_TMPDIR": f"{site.cluster.base}/ray"}


NEVER_READY = bash("touch starting; sleep 600")


def local(site: Site, trainer: str, config: str = CONFIG, runtime: str | None = None) -> Launched:
    """A launch to its end, on a machine whose sbatch and scancel must not be called."""
    for name in ("sbatch", "scancel"):
        path = site.at / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {site.at}/asked-slurm\n")
        path.chmod(0o755)
    made = site.launch(
        trainer,
        "--local",
        config=config,
        runtime=runtime,
        PATH=f"{site.at}/bin:{site.cluster.env['PATH']}",
        **environ(site),
    )
    assert not (site.at / "asked-slurm").exists()
    assert processes_with(f"SKYRL_JOB_DIR={made.job_dir}") == []
    return made


def test_both_jobs_run_here(site: Site) -> None:
    made = local(site, bash("echo $CUDA_VISIBLE_DEVICES > device; cat job/runtime_url.txt > url; setsid sleep 600 &"))
    assert made.status == 0, made.said + made.log(Role.TRAINER) + made.log(Role.RUNTIME)
    assert (site.at / "device").read_text().strip() == "0"
    assert (site.at / "url").read_text().startswith("http://127.0.0.1:")
    assert [made.ended(role).status for role in Role] == [0, 0]


def test_the_status_is_the_trainers(site: Site) -> None:
    made = local(site, bash("exit 7"))
    assert (made.status, made.ended(Role.TRAINER).reason) == (7, "the trainer exited with status 7")


def test_a_gate_that_refuses_ends_both_with_78(site: Site) -> None:
    two = CONFIG.replace("[slurm]", "[slurm]\ngpus_per_node = 2").replace("batch_size = 1", "batch_size = 2")
    made = local(site, WAITS, config=two.replace("[model]", "[actor]\nppo_mini_batch_size = 2\n[model]"))
    assert "GPU002" in made.ended(Role.TRAINER).reason
    assert made.status == 78, made.said
    assert not (site.at / "begun").exists()


def test_a_runtime_that_dies_in_the_middle_ends_the_trainer(site: Site) -> None:
    dies = f"{sys.executable} {HERE / 'standin_runtime.py'} job & while [ ! -e begun ]; do sleep 0.1; done; kill -9 $!; exit 5"
    made = local(site, WAITS, runtime=bash(dies))
    assert "the runtime" in made.ended(Role.TRAINER).reason
    assert (made.status, made.ended(Role.RUNTIME).status) == (1, 5)


def test_a_runtime_that_never_comes_up_ends_the_trainer(site: Site) -> None:
    made = local(site, WAITS, runtime=bash("exit 3"))
    assert made.ended(Role.TRAINER).reason.startswith("the runtime")
    assert not (site.at / "begun").exists()


def _examining(mark: str, *what: str) -> bool:
    """Whether a doctor of this launch looks just now."""
    for pid in processes_with(mark):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if {"skyrl_doctor", *what} <= {word.decode(errors="replace") for word in words}:
            return True
    return False


PHASES: dict[str, Callable[[Path, str], bool]] = {
    "login gate": lambda _at, mark: _examining(mark, "preflight"),
    "runtime starts": lambda at, _mark: (at / "starting").exists(),
    "node gate": lambda _at, mark: _examining(mark, "gate", "gpu"),
    "training": lambda at, _mark: (at / "begun").exists(),
}


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_end_it_leaves_nothing(site: Site, phase: str, number: signal.Signals) -> None:
    (site.at / "run.toml").write_text(CONFIG)
    mark = f"LANE_LAUNCH={site.at}"
    payload = f"{sys.executable} {HERE / 'standin_runtime.py'} job"
    command = [sys.executable, "-m", "skyrl_train", "launch", "run.toml", "--local", "--job-dir", "job"]
    command += ["--trainer-command", WAITS, "--runtime-command", NEVER_READY if phase == "runtime starts" else payload]
    env = {**site.cluster.env, **environ(site), "LANE_LAUNCH": str(site.at)}
    with (site.at / "said").open("wb") as said:
        launch = subprocess.Popen(
            command,
            env=env,
            cwd=site.at,
            stdin=subprocess.DEVNULL,
            stderr=said,
        )
    wait_until(lambda: PHASES[phase](site.at, mark) or launch.poll() is not None, f"{phase} comes")
    assert launch.poll() is None, (site.at / "said").read_text()
    launch.send_signal(number)
    status = launch.wait(LIMIT_S)
    assert status not in (0, 2), (site.at / "said").read_text()
    wait_until(lambda: not processes_with(mark), "no process is left")
    if phase != "login gate" or (site.at / "job").exists():  # that gate may have passed between our look and the signal
        ended = read_ended(str(site.at / "job"), Role.TRAINER)
        assert ended is not None
        assert "stopped by signal" in ended.reason
    assert b"Traceback" not in (site.at / "said").read_bytes()
