"""Lines of /proc/PID."""

import os
import sys
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.ancestors import Ancestors, Process, ancestors, parse_argv
from skyrl_doctor.facts.host import host
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.queries import Query
from skyrl_doctor.machine.recorded import RecordedMachine
from support import recorded


def test_splits_a_command_line() -> None:
    assert parse_argv("uv\0run\0\0python\0") == ("uv", "run", "", "python")
    assert parse_argv("") == ()
    assert parse_argv("sshd: trainer@pts/0") == ("sshd: trainer@pts/0",)


@given(st.text())
def test_a_command_line_stays_short(text: str) -> None:
    argv = parse_argv(text * 50)
    assert len(argv) <= 64
    assert all(len(argument) <= 200 for argument in argv)


T = TypeVar("T")
CLEAN = recorded("clean_gpu_node")
BATCH = Process(29990, ("/bin/bash", "/var/spool/slurmd/job04711/slurm_script"))


def look(machine: Machine) -> Ancestors:
    found = ancestors(machine, host(machine))
    assert isinstance(found, Ancestors)
    return found


def test_finds_them_nearest_first() -> None:
    assert look(CLEAN) == Ancestors(
        (
            BATCH,
            Process(29985, ("slurmstepd: [4711.batch]",)),
            Process(1, ("/usr/lib/systemd/systemd", "--switched-root", "--system")),
        )
    )


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_finds_the_real_parent() -> None:
    assert look(LocalMachine()).processes[0].pid == os.getppid()


def test_ends_where_this_user_is_shown_no_more() -> None:
    hidden = CLEAN.but({"read /proc/29985/stat": {"absent": "/proc/29985/stat"}})
    assert look(hidden) == Ancestors((BATCH,))


def test_a_command_line_that_may_not_be_read_is_empty() -> None:
    path = "/proc/29985/cmdline"
    refused = CLEAN.but({f"read {path}": {"unreadable": path, "why": "Permission denied"}})
    assert look(refused).processes[1] == Process(29985, ())


class Orphaning(Machine):
    """The parent ends between two looks, and process 1 adopts its child."""

    def __init__(self, inner: RecordedMachine) -> None:
        self._inner = inner
        self._adopted = inner.but({"read /proc/30001/stat": ["30001 (skyrl-doctor) S 1 30001"]})
        self._gone = False

    def answer(self, query: Query[T]) -> T:
        if query.key == "read /proc/29990/stat":
            self._gone = True
            raise Absent("/proc/29990/stat")
        return (self._adopted if self._gone else self._inner).answer(query)


def test_follows_the_child_of_a_process_that_just_ended() -> None:
    assert [process.pid for process in look(Orphaning(CLEAN)).processes] == [1]


@pytest.mark.parametrize("text", [[""], ["garbage"], ["30001 (x) S nobody"]])
def test_garbage_is_not_looked(text: list[str]) -> None:
    with pytest.raises(CouldNotLook, match="not a line of /proc/PID/stat"):
        look(CLEAN.but({"read /proc/30001/stat": text}))


def test_a_circle_ends() -> None:
    with pytest.raises(CouldNotLook, match="more than 64 ancestors"):
        look(CLEAN.but({"read /proc/1/stat": ["1 (x) S 29990 1"]}))


def test_linux_without_proc_is_not_looked_and_another_system_has_none() -> None:
    gone = CLEAN.but({"read /proc/30001/stat": {"absent": "/proc/30001/stat"}})
    with pytest.raises(CouldNotLook, match="no such file"):
        look(gone)
    mac = gone.but({"identity": {**as_recorded(gone), "system": "Darwin 24.0 arm64"}})
    with pytest.raises(NotApplicable, match="has no /proc"):
        look(mac)


def as_recorded(machine: Machine) -> dict[str, object]:
    identity = machine.identity()
    return {name: getattr(identity, name) for name in identity.__dataclass_fields__}
