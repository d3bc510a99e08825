"""What earlier launches left."""

import pytest

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.launches import Failure, Launches
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.probes.host import host
from skyrl_doctor.probes.launches import launches
from support import recorded

AGAIN, CLEAN = recorded("node_fails_again"), recorded("clean_gpu_node")
ROOT = "/home/trainer/run/.skyrl_jobs"


def look(machine: Machine, **environ: str) -> object:
    return launches.look(machine, Environ(environ), host.look(machine))


def test_reads_directories_and_accounting() -> None:
    assert look(AGAIN) == Launches(
        (ROOT, "sacct"),
        (
            Failure("gpu-node-17.cluster", "20261119_101500_launch", "GPU003"),
            Failure("gpu-node-17", "20261120_081200_launch", "ended the run"),
            Failure("gpu-node-18", "20261120_081200_launch", "ended the run"),
            Failure("gpu-node-21", "job 4650", "NODE_FAIL"),
            Failure("gpu-node-22", "job 4650", "NODE_FAIL"),
            Failure("gpu-node-21", "job 4655", "NODE_FAIL"),
        ),
    )


def test_the_launch_of_this_very_job_is_none_before_it() -> None:
    found = look(AGAIN, SKYRL_JOB_DIR=f"{ROOT}/20261119_101500_launch/")
    assert isinstance(found, Launches)
    assert "20261119_101500_launch" not in {failure.job for failure in found.failures}


def test_without_launches_there_is_nothing_to_learn() -> None:
    with pytest.raises(NotApplicable):
        look(CLEAN)
