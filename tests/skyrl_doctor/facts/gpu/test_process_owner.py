"""Whose a process is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.gpu import Owner
from skyrl_doctor.facts.gpu.process_owner import parse_owner

STATUS = "Name:\tray::WorkerDict\nState:\tS (sleeping)\nUid:\t1000\t1001\t1000\t1000\nGid:\t7\t7\t7\t7\n"


@pytest.mark.parametrize(
    ("cgroup", "job"),
    [
        ("0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n", "4711"),
        ("0::/system.slice/gpu-node-17_slurmstepd.scope/job_4711\n", "4711"),
        ("9:cpuset:/x\n4:devices:/slurm/uid_1000/job_4711/step_batch/task_0\n", "4711"),
        ("4:devices:/slurm_gpu-node-17/uid_1000/job_4711/step_extern\n", "4711"),
        ("0::/system.slice/slurmstepd.scope/s0Q3XAHW5DPR00/step_batch/user/task_0\n", "s0Q3XAHW5DPR00"),
        ("0::/site.slice/gpu1_slurmstepd.scope/s0Q3XAHW5DPR00\n", "s0Q3XAHW5DPR00"),
        ("0::/system.slice/slurmstepd.scope/system\n", None),
        ("0::/user.slice/user-1000.slice/session-9.scope\n", None),
        ("0::/kubepods/job_12/pod\n", None),
        ("", None),
    ],
)
def test_finds_the_slurm_job(cgroup: str, job: str | None) -> None:
    assert parse_owner(STATUS, cgroup) == Owner(name="ray::WorkerDict", uid=1000, job=job)


def test_no_user_no_owner() -> None:
    assert parse_owner("Name:\tpython\n", "0::/\n") is None


@given(st.text(), st.text())
def test_no_text_crashes_it(status: str, cgroup: str) -> None:
    parse_owner(status, cgroup)
    assert parse_owner(STATUS, cgroup) is not None
