"""A job's control groups as Slurm makes them in version 2, with limits at two levels above the task, and a doctor inside."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.cgroup2
MOUNT = Path("/sys/fs/cgroup")
JOB = MOUNT / "system.slice/slurmstepd.scope/job_4711"
STEP = JOB / "step_0"
TASK = STEP / "user/task_0"
MIB = 1 << 20
HELD_MIB, LIMIT_MIB, MOST_TASKS = 64, 700, 90
LIMIT_S = 600.0
WATCH = f"""
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.watch.sample.node import host_memory
held = bytearray({HELD_MIB * MIB})
found, = host_memory(LocalMachine(), 0.0)
print(found.used * 1024, found.limit * 1024)
"""


@pytest.fixture
def groups() -> Iterator[None]:
    at = MOUNT
    for name in TASK.relative_to(MOUNT).parts:
        (at / "cgroup.subtree_control").write_text("+memory +pids")
        at /= name
        at.mkdir()
    (JOB / "memory.max").write_text(str(LIMIT_MIB * MIB))
    (STEP / "pids.max").write_text(str(MOST_TASKS))
    yield
    while at != MOUNT:
        at.rmdir()
        at = at.parent


def in_task(*words: str) -> subprocess.CompletedProcess[str]:
    """Python with these words, as a task of the job."""

    def enter() -> None:
        (TASK / "cgroup.procs").write_text(str(os.getpid()))

    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, timeout=LIMIT_S, preexec_fn=enter
    )


@pytest.mark.usefixtures("groups")
def test_a_preflight_names_the_group_above_the_task_that_limits_it() -> None:
    words = ["preflight", "--role", "gpu", "--select", "ENV007,ENV008", "--deadline", "300", "--format", "json"]
    done = in_task("-m", "skyrl_doctor", *words)
    said = {outcome["id"]: messages(outcome) for outcome in json.loads(done.stdout)["outcomes"]}
    assert f"0.7 GiB of host memory (the memory limit of {JOB})" in said["ENV007"], done.stdout
    assert f"pids.max of {STEP} is {MOST_TASKS}" in said["ENV008"], done.stdout


def messages(outcome: dict[str, Any]) -> str:
    return " ".join(finding["message"] for finding in outcome["findings"])


@pytest.mark.usefixtures("groups")
def test_the_watch_sees_what_the_job_holds_of_its_limit() -> None:
    done = in_task("-c", WATCH)
    used, limit = map(float, done.stdout.split())
    assert limit == pytest.approx(LIMIT_MIB)
    assert HELD_MIB <= used < HELD_MIB + 100, done.stderr
