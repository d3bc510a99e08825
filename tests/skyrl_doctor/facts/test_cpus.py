"""Lists of CPUs."""

import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.cpus import NodeCpus, cpus, parse_cpu_list
from skyrl_doctor.facts.host import host
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.local import LocalMachine
from support import recorded


@pytest.mark.parametrize(("text", "count"), [("0\n", 1), ("0-15", 16), ("0-15,32-47\n", 32), ("0,2,4-5", 4)])
def test_counts_them(text: str, count: int) -> None:
    assert parse_cpu_list(text) == count


@pytest.mark.parametrize("text", ["", "\n", "0-", "-1", "5-2", "a", "0,,1", "0-999999", "²"])
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="list of"):
        parse_cpu_list(text)


@given(st.text(alphabet="0123456789-,\n x") | st.text())
def test_a_count_is_never_absurd(text: str) -> None:
    try:
        assert 0 < parse_cpu_list(text) <= 65536
    except ValueError:
        return


CLEAN = recorded("clean_gpu_node")


def look(machine: Machine) -> object:
    return cpus.look(machine, host.look(machine))


def test_counts_the_cpus_of_the_node() -> None:
    assert look(CLEAN) == NodeCpus(16)


def test_garbage_is_not_looked() -> None:
    with pytest.raises(CouldNotLook, match="no list of CPUs"):
        look(CLEAN.but({"read /sys/devices/system/cpu/online": ["all"]}))


@pytest.mark.skipif(sys.platform != "linux", reason="/sys is Linux's")
def test_counts_as_python_does() -> None:
    assert look(LocalMachine()) == NodeCpus(os.cpu_count() or 0)
