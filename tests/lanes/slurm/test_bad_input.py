"""The real launch command with what cannot work: a clear word, and nothing submitted, or everything cancelled."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lanes.slurm.lab import Cluster, processes_with, wait_until
from lanes.slurm.site import CONFIG, Launched, Site
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.slurm
HANG_S = 900


def refused(made: Launched, *said: str) -> None:
    """One that left nothing: no job, no directory, and words that say why."""
    assert made.status in (2, 78), made.said
    for text in said:
        assert text in made.said
    wait_until(lambda: not made.cluster.jobs(), "nothing is queued")
    assert "Traceback" not in made.said


@contextmanager
def mounted(at: Path, options: str) -> Iterator[Path]:
    at.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(at)], check=True)
    try:
        yield at
    finally:
        subprocess.run(["umount", str(at)], check=True)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(b"x" * 4096)


def program(site: Site, name: str, text: str) -> str:
    """A PATH on which a command of Slurm is this one."""
    place = site.at / "bin"
    place.mkdir(exist_ok=True)
    (place / name).write_text(f"#!/bin/sh\n{text}\n")
    (place / name).chmod(0o755)
    return f"{place}:{site.cluster.env['PATH']}"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('cpu_partition = "test"', 'cpu_partition = "nowhere"'), "Slurm has no partition nowhere; it has "),
        (
            ("[slurm]", '[slurm]\nextra = ["--gres=nothing:1"]'),
            "sbatch refuses the runtime job: Invalid generic resource",
        ),
        (("[slurm]", '[slurm]\nextra = ["--no-such-option"]'), "unrecognized option"),
        (
            ("runtime_memory_mib = 4000", "runtime_memory_mib = 999999999"),
            "no node of partition test has more than 64000",
        ),
        (
            ("[slurm]", '[slurm]\ngpu_type = "h100"'),
            "no node of partition gpu_test has a GPU of this type; they have 2g.20gb",
        ),
        (("[slurm]", '[slurm]\naccount = "nobody\'s"'), "no such account"),
        (("[slurm]", '[slurm]\nqos = "nobody\'s"'), "no such qos"),
    ],
)
def test_what_slurm_refuses_leaves_nothing(site: Site, change: tuple[str, str], said: str) -> None:
    """Accounts need a database, which this cluster has not: a wrapper refuses as slurmctld does, before the real sbatch."""
    wrapper = (
        "for word; do script=$word; done\n"
        'for name in account qos; do if grep -q -- "--$name=" "$script"; then\n'
        '  echo "sbatch: error: Batch job submission failed: no such $name" >&2; exit 1; fi; done\n'
        f'PATH={site.cluster.env["PATH"]}; exec sbatch "$@"'
    )
    made = site.launch("true", "--no-gate", config=CONFIG.replace(*change), PATH=program(site, "sbatch", wrapper))
    refused(made, said)
    assert not made.job_dir.exists()
    if "no such" not in said:
        dry = site.launch("true", "--no-gate", "--dry-run", config=CONFIG.replace(*change))
        assert (dry.status, dry.said) == (made.status, made.said)


def test_a_second_job_that_is_refused_takes_the_first_one_back(site: Site) -> None:
    wrapper = (
        'for word; do script=$word; done; case "$script" in *trainer.sh) echo "sbatch: error: invalid partition specified" >&2;\n'
        f'exit 1;; esac; PATH={site.cluster.env["PATH"]}; exec sbatch "$@"'
    )
    made = site.launch("true", "--no-gate", PATH=program(site, "sbatch", wrapper))
    refused(made, "invalid partition", f"; {made.job_dir} records it")
    told = made.ended(Role.TRAINER).reason
    assert told.startswith("never submitted: sbatch refused: ")
    assert site.cluster.wait(made.job(Role.RUNTIME)).state in ("CANCELLED", "FAILED")
    status = site.cluster.run(sys.executable, "-m", "skyrl_train", "status", str(made.job_dir), cwd=site.at)
    assert f"trainer:  not submitted, exited with status 1: {told}" in status.stdout
    stop = site.cluster.run(sys.executable, "-m", "skyrl_train", "stop", str(made.job_dir), cwd=site.at)
    assert stop.stdout == f"runtime: job {made.job(Role.RUNTIME)} had already ended\n"


def test_a_disk_that_is_read_only_or_full(site: Site) -> None:
    with mounted(site.at / "disk", "ro") as disk:
        made = site.launch("true", "--no-gate", "--job-dir", str(disk / "job"))
        refused(made, "cannot be used: Read-only file system")
    with mounted(site.at / "small", "size=64k") as disk:
        fill(disk / "filler")
        made = site.launch("true", "--no-gate", "--job-dir", str(disk / "job"))
        refused(made, "No space left on device")
        assert os.listdir(disk) == ["filler"]


def test_a_disk_that_fills_up_between_the_two_jobs(site: Site) -> None:
    """The first job is there, and its id cannot be written down."""
    with mounted(site.at / "small", "size=256k") as disk:
        fills = f'PATH={site.cluster.env["PATH"]}; sbatch "$@"; [ "$1" = --test-only ] || dd if=/dev/zero of={disk}/filler bs=4096 2>/dev/null; :'
        path = program(site, "sbatch", fills)
        made = site.launch("true", "--no-gate", "--job-dir", str(disk / "job"), PATH=path)
        refused(made, "No space left on device", "cancelled job")


def test_without_sbatch_nothing_is_left(site: Site) -> None:
    made = site.launch("true", PATH=str(Path(sys.executable).parent))
    refused(made, "sbatch is not installed here")
    assert not made.job_dir.exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"test"', '"short"'), "slurm.runtime_time_limit = 5, but partition short allows at most 00:02:00"),
        (
            ('"test"', '"theirs"\naccount = "us"'),
            "slurm.account = 'us' may not use partition theirs, which allows them",
        ),
    ],
)
def test_what_slurm_would_queue_for_ever(site: Site, change: tuple[str, str], said: str) -> None:
    made = site.launch("true", config=CONFIG.replace(*change))
    refused(made, said)
    assert not made.job_dir.exists()


def test_commands_of_slurm_that_hang_are_not_waited_for(site: Site) -> None:
    mark = f"LANE_HANGS={site.at}"
    path = ""
    for name in ("squeue", "sinfo", "scontrol", "sacct", "sacctmgr"):
        path = program(site, name, f"sleep {HANG_S} & sleep {HANG_S}")
    began = time.monotonic()
    made = site.launch("true", PATH=path, LANE_HANGS=str(site.at))
    assert time.monotonic() - began < HANG_S / 2
    for role in Role if made.status == 0 else ():
        site.cluster.wait(made.job(role))
    wait_until(lambda: not processes_with(mark), "nothing of them is left")


@contextmanager
def stopped(cluster: Cluster) -> Iterator[None]:
    """slurmctld takes connections and does not answer, as a busy one."""
    daemon = cluster.daemons[1]
    daemon.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        daemon.send_signal(signal.SIGCONT)


def test_a_controller_that_does_not_answer(site: Site) -> None:
    with stopped(site.cluster):
        made = site.launch("true", "--no-gate")
        assert made.status == 2
        assert "check with `squeue --me`" in made.said
    assert not made.job_dir.exists()
    wait_until(lambda: not site.cluster.jobs(), "what came late has failed by itself")
