"""The limits of this process."""

import sys

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.limits import Limit, Limits
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.probes.host import host
from skyrl_doctor.probes.limits import limits
from support import recorded

CLEAN = recorded("clean_gpu_node")
PS = "run ps -U 1000 -o nlwp="


def look(machine: Machine) -> Limits:
    found = limits.look(machine, host.look(machine))
    assert isinstance(found, Limits)
    return found


def test_reads_limits_and_threads() -> None:
    wide = Limit(1029418, 1029418)
    assert look(CLEAN) == Limits(processes=wide, open_files=Limit(1048576, 1048576), threads=6)


@pytest.mark.parametrize(
    "answer", [{"found": False}, {"timed_out": True}, {"rc": 1}, {"rc": 0, "out": ["error: unknown option"]}]
)
def test_without_ps_the_limits_stand(answer: dict[str, object]) -> None:
    assert look(CLEAN.but({PS: answer})).threads is None


@pytest.mark.parametrize("text", [[""], ["Max processes is high"]])
def test_garbage_is_not_looked(text: list[str]) -> None:
    with pytest.raises(CouldNotLook, match=r"^/proc/self/limits: "):
        look(CLEAN.but({"read /proc/self/limits": text}))


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_reads_the_real_ones() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert look(LocalMachine()).open_files == Limit(soft, hard)
