"""On a GPU node: every check of the GPU role is a test item, and the GPU facts are those of the hardware.

pytest -m gpu --require=gpu
"""

import functools
import re
import subprocess

import pytest

from skyrl_doctor.core.check import Check
from skyrl_doctor.core.engine import examine
from skyrl_doctor.core.gather import Gathered, Gathering
from skyrl_doctor.core.model import Outcome, Role, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu import Gpu, Gpus, Slice, usable
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.plan.model import Plan
from support import registry

pytestmark = pytest.mark.gpu
DEADLINE_S = 120.0


def gpu_checks() -> list[Check]:
    return [check for check in registry().checks if Role.GPU in check.roles]


@functools.cache
def examined() -> tuple[dict[str, Outcome], Gathering]:
    """One examination for all items: a fact is gathered once."""
    preset: dict[type, object] = {
        Machine: LocalMachine(),
        Plan: Plan(),
        Roles: Roles(frozenset({Role.GPU}), asked=True),
    }
    gathering = Gathering(registry().probes, preset, deadline_s=DEADLINE_S)
    return {outcome.id: outcome for outcome in examine(gpu_checks(), gathering)}, gathering


def fact(kind: type) -> object:
    answer = examined()[1].results[kind]
    assert isinstance(answer, Gathered), answer
    return answer.value


@pytest.mark.parametrize("check_id", [check.id for check in gpu_checks()])
def test_this_node_is_fit(check_id: str) -> None:
    outcome = examined()[0][check_id]
    if outcome.status is Status.SKIP:
        pytest.xfail(f"does not apply here: {outcome.reason}")
    assert outcome.status is not Status.UNKNOWN, outcome.reason
    assert [finding.message for finding in outcome.findings if finding.severity is Severity.ERROR] == []


def test_the_gpus_are_those_that_nvidia_smi_lists() -> None:
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=300, check=True).stdout
    gpus = fact(Gpus)
    assert isinstance(gpus, Gpus)
    devices: list[Gpu | Slice] = [*gpus.gpus, *gpus.slices]
    assert sorted(device.uuid for device in devices) == sorted(re.findall(r"UUID: ([^)]+)\)", listed))


def test_there_is_a_device_for_this_job_with_memory_of_its_own() -> None:
    gpus, environ = fact(Gpus), fact(Environ)
    assert isinstance(gpus, Gpus)
    assert isinstance(environ, Environ)
    first = usable(gpus, environ)[0]
    assert first.memory is not None
    assert 0 < first.memory.free_mib <= first.memory.total_mib
