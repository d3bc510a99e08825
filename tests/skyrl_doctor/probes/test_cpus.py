"""The node's CPUs."""

import os
import sys

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.cpus import NodeCpus
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.probes.cpus import cpus
from skyrl_doctor.probes.host import host
from support import recorded

CLEAN = recorded("clean_gpu_node")


def look(machine: Machine) -> object:
    return cpus.look(machine, host.look(machine))


def test_counts_them() -> None:
    assert look(CLEAN) == NodeCpus(16)


def test_garbage_is_not_looked() -> None:
    with pytest.raises(CouldNotLook, match="no list of CPUs"):
        look(CLEAN.but({"read /sys/devices/system/cpu/online": ["all"]}))


@pytest.mark.skipif(sys.platform != "linux", reason="/sys is Linux's")
def test_counts_as_python_does() -> None:
    assert look(LocalMachine()) == NodeCpus(os.cpu_count() or 0)
