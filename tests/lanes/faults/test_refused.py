"""Eight faults, one at a time: the gate refuses before anything trains, and says what to do."""

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lanes.e2e.whole import LIMIT_S, NAME, Whole, write_images
from lanes.faults import interpreters
from lanes.faults.refusals import REFUSED, refused_at_login, refused_in_job, tells
from lanes.podman.conftest import load
from lanes.podman.lab import Lab
from lanes.podman.test_places import isolate
from lanes.slurm.lab import Cluster, wait_until
from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.core.model import Status
from skyrl_train.contracts.job_files import KEY
from skyrl_train.launch.directory import runtime_url
from skyrl_train.launch.gate import error_lines
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.e2e


def test_max_tokens_that_no_context_holds(whole: Whole) -> None:
    whole.launch(whole.config(steps=1, **{"max_tokens = 24": "max_tokens = 4000"}))
    refused_at_login(whole, "CFG001", "4000", "max_model_len", "640", "run.toml:", "max_tokens = ")


def test_two_slices_of_one_gpu(whole: Whole) -> None:
    two = {
        "trainer_cpus = 2": "trainer_cpus = 2\ngpus_per_node = 2",
        "micro_batch_size_per_gpu = 8": "micro_batch_size_per_gpu = 4",
    }
    whole.launch(whole.config(steps=1, **two))
    refused_at_login(whole, "GPU002", "gpus_per_node = 2", "only MIG slices", "gpus_per_node = 1", status=2)


def test_images_without_tests(whole: Whole, tmp_path: Path) -> None:
    whole.images = write_images(tmp_path / "bare", tests=False)
    whole.launch(whole.config(steps=1))
    refused_in_job(whole, Role.RUNTIME, "IMG006", NAME, "no tests", "expected /r2e_tests", "remove these tasks")


def test_a_key_that_the_runtime_does_not_have(whole: Whole, tmp_path: Path) -> None:
    """The runtime is a launch of its own; the trainer's launch is given its address, and a key of yesterday's."""
    whole.launch(whole.config(steps=1), "--runtime-only")
    wait_until(lambda: runtime_url(str(whole.job)), "the runtime is ready", LIMIT_S)
    url = str(runtime_url(str(whole.job)))
    second = replace(whole, at=tmp_path / "second")
    second.at.mkdir()
    for name, words in (
        ("ALLHANDS_API_KEY", "rejects $ALLHANDS_API_KEY with 401"),
        ("NO_KEY", "rejects no key with 401"),
    ):
        second.launch(second.config(steps=1), "--skip-runtime", "--runtime-url", url, **{name: "yesterday"})
        refused_at_login(second, "RUN001", url, words, "expected the key", "export ALLHANDS_API_KEY", KEY)
    assert "yesterday" not in second.said
    second.launch(second.config(steps=1), "--skip-runtime", "--runtime-url", url, "--no-gate")  # the job has its own
    refused_in_job(second, Role.TRAINER, "RUN001", url, "rejects no key with 401", "export ALLHANDS_API_KEY")
    assert whole.ended(Role.RUNTIME) is None


def test_an_interpreter_without_headers(whole: Whole, tmp_path: Path) -> None:
    python = interpreters.without_headers(tmp_path)
    whole.launch(whole.config(steps=1) + f'[python]\ninterpreter = "{python}"\n')
    include = tmp_path / "base" / "include"
    refused_in_job(
        whole,
        Role.TRAINER,
        "ENV001",
        str(python),
        f"no Python.h in {include}",
        "expected",
        "config.toml:",
        "-dev package",
    )


def test_records_that_cannot_cross_processes(whole: Whole, tmp_path: Path) -> None:
    python = interpreters.with_records_that_hold_a_lock(tmp_path)
    whole.launch(whole.config(steps=1) + f'[python]\ninterpreter = "{python}"\n')
    refused_at_login(
        whole,
        "AGT008",
        str(python),
        "cannot pickle '_thread.RLock' object",
        "expected equal records",
        "-m pip install",
    )


@pytest.fixture
def ray_dir() -> Iterator[Path]:
    """Short, since sockets lie below it."""
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp", ignore_cleanup_errors=True) as name:
        yield Path(name)


def test_a_variable_that_no_worker_has(session_cluster: Cluster, tmp_path: Path, ray_dir: Path) -> None:
    """Ray was started before the variable was set. A command line of verl's own does not hand it on, and is refused. A
    launch of ours cannot have this fault: its driver gives Ray what the workers lack, and the first task proves it."""
    (tmp_path / "verl.sh").write_text("python3 -m verl.trainer.main_ppo data.train_batch_size=8 trainer.nnodes=1\n")
    passes = "+ray_kwargs.ray_init.runtime_env.env_vars.SANDBOX_REMOTE_RUNTIME_API_URL=http://node07:8000"
    (tmp_path / "passes.sh").write_text(f"python3 -m verl.trainer.main_ppo data.train_batch_size=8 {passes}\n")
    (tmp_path / "run.toml").write_text('[model]\npath = "a/b"\n[env]\nOF_THE_RUN = "1"\n')
    gate = f"{sys.executable} -m skyrl_doctor gate --role gpu --select RUN002"
    ray = f"{sys.executable} -m ray.scripts.scripts"
    script = f"""
    export RAY_TMPDIR={ray_dir} RAY_USAGE_STATS_ENABLED=0
    {ray} start --head --port=0 --num-cpus=1 --num-gpus=0 --include-dashboard=false || exit 99
    export RAY_ADDRESS=auto SANDBOX_REMOTE_RUNTIME_API_URL=http://node07:8000
    {gate} passes.sh -- touch passed || exit 98
    {gate} run.toml -- {sys.executable} {Path(__file__).with_name("hands_on.py")} run.toml || exit 97
    {gate} verl.sh -- touch started 2> said
    """
    number = session_cluster.submit(script, f"--chdir={tmp_path}", cwd=tmp_path)
    try:
        job = session_cluster.wait(number, LIMIT_S)
    finally:
        session_cluster.kill(number)  # `ray stop` would end every Ray of this machine
    log = "".join(path.read_text(errors="replace") for path in tmp_path.glob("slurm-*.out"))
    assert job.exit_code == REFUSED, f"{job}\n{log}"
    assert (tmp_path / "passed").exists()
    assert not (tmp_path / "started").exists()
    told = " ".join((tmp_path / "said").read_text().split())
    tells(told, "RUN002", "SANDBOX_REMOTE_RUNTIME_API_URL is set here", "was started without it", "expected it there")
    tells(told, passes.partition("=")[0])


def test_a_pause_process_that_is_dead(private: Lab, image_archive: Path) -> None:
    """Only an ordinary user's Podman has one, in the user's own store. A launch of ours cannot have this fault: its script
    takes `skyrl-doctor env`, with which the runtime's job has a store of its own, as it has here in the end."""
    private.detached("rollout")
    private.kill_all(reaped=True)

    def gate() -> tuple[int, str]:
        os.environ.clear()
        os.environ.update(private.env)
        words = ["gate", "--role", "runtime", "--select", "POD001", "--format", "json"]
        status = dispatch([*words, "--output", "report.json", "--", "touch", "started"])
        return status, "; ".join(error_lines("report.json"))

    status, told = private.child(gate)
    assert status == REFUSED
    assert not (private.base / "started").exists()
    tells(told, "POD001", "the store lists rollout as running", str(private.pause_file), "expected a living process")
    tells(told, "podman system migrate")
    own = isolate(private)
    load(own, image_archive)
    assert own.sandbox().returncode == 0
    assert own.doctor("POD001").status is Status.PASS
