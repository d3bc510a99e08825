"""Who holds the store's namespace, and who only has the number of one who did."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.podman_store import FILE, XDG, Bare, store
from skyrl_doctor.facts.podman.database import Container, Database
from skyrl_doctor.facts.podman.processes import (
    Monitored,
    PidFile,
    PodmanProcesses,
    Process,
    parse_pid,
    parse_status,
    podman_processes,
)

STATUS = "Name:\tpodman pause\nUmask:\t0022\nState:\tS (sleeping)\nPid:\t7\nUid:\t1000\t1000\t1000\t1000\n"
PAUSE = Process(pid=7, name="podman pause", state="S", uid=1000, user_ns="user:[2]")


def processes(process: Process | None) -> PodmanProcesses:
    pause = PidFile(path="/p", text="7", pid=7, process=process)
    return PodmanProcesses(own_user_ns="user:[1]", uid=1000, pause=pause, fresh=False)


def holds(process: Process | None) -> bool:
    found = processes(process)
    return found.holds_namespace(found.pause)


def test_reads_a_status() -> None:
    assert parse_status(7, STATUS, "user:[2]") == PAUSE
    assert parse_status(7, "Name:\tx\n", None) is None


@pytest.mark.parametrize(
    ("text", "pid"),
    [("12", 12), ("12\n", 12), ("", None), ("abc", None), ("-1", None), ("0", None), ("1e3", None), ("9" * 20, None)],
)
def test_reads_a_pid(text: str, pid: int | None) -> None:
    assert parse_pid(text) == pid


def test_only_a_living_process_of_the_user_in_another_namespace_holds_it() -> None:
    assert holds(PAUSE)
    assert not holds(None)
    assert not holds(replace(PAUSE, state="Z"))
    assert not holds(replace(PAUSE, uid=0))
    assert not holds(replace(PAUSE, user_ns="user:[1]"))
    assert not holds(replace(PAUSE, user_ns=None))


def test_a_number_is_reused_where_its_process_is_none_of_podman_s() -> None:
    same, foreign = replace(PAUSE, user_ns="user:[1]"), replace(PAUSE, name="sleep")
    assert (processes(same).reused, processes(foreign).reused) == (same, foreign)
    for innocent in (PAUSE, None, replace(same, state="Z"), replace(same, uid=0), replace(PAUSE, user_ns=None)):
        assert processes(innocent).reused is None


@given(st.text())
def test_no_text_crashes(text: str) -> None:
    parse_pid(text)
    parse_status(7, text, None)


OWN_NS = {"readlink /proc/self/ns/user": "user:[1]"}


CONMON_STATUS = "Name:\tconmon\nState:\tS (sleeping)\nUid:\t1000\t1000\n"


def alive(pid: int, name: str = "conmon") -> dict[str, Any]:
    return {
        f"read /proc/{pid}/status": CONMON_STATUS.replace("conmon", name),
        f"readlink /proc/{pid}/ns/user": "user:[2]",
    }


def process(pid: int, name: str = "conmon", user_ns: str | None = "user:[2]") -> Process:
    return Process(pid=pid, name=name, state="S", uid=1000, user_ns=user_ns)


def test_processes_of_the_pause_file_and_of_running_containers() -> None:
    up, paused, ended = (
        Container(id=f"c{state}", state=state, conmon_pid_file=f"/c{state}.pid") for state in (3, 5, 6)
    )
    machine = Bare(
        {
            **OWN_NS,
            f"read {XDG}/libpod/tmp/pause.pid": "7",
            f"stat {XDG}/libpod/tmp/alive": FILE,
            "read /c3.pid": "8\n",
            **alive(7, "podman pause"),
            **alive(8),
        }
    )
    assert podman_processes(machine, store(database=Database(path="x", containers=(up, paused, ended)))) == (
        PodmanProcesses(
            own_user_ns="user:[1]",
            uid=1000,
            pause=PidFile(path=f"{XDG}/libpod/tmp/pause.pid", text="7", pid=7, process=process(7, "podman pause")),
            fresh=False,
            running=(
                Monitored(container=up, conmon=PidFile(path="/c3.pid", text="8\n", pid=8, process=process(8))),
                Monitored(container=paused, conmon=None),
            ),
        )
    )


def test_pid_files_without_a_database_are_leftovers() -> None:
    containers = f"{XDG}/containers/overlay-containers"
    machine = Bare(
        {
            **OWN_NS,
            f"list {containers}": ["a", "b"],
            f"read {containers}/a/userdata/conmon.pid": "9",
            "read /proc/9/status": CONMON_STATUS,
            "readlink /proc/9/ns/user": {"unreadable": "/proc/9/ns/user", "why": "Permission denied"},
        }
    )
    found = podman_processes(machine, store(database=Database(path="x", unread="x: Permission denied")))
    assert found == PodmanProcesses(
        own_user_ns="user:[1]",
        uid=1000,
        pause=None,
        fresh=True,
        leftover=(
            PidFile(path=f"{containers}/a/userdata/conmon.pid", text="9", pid=9, process=process(9, user_ns=None)),
        ),
    )
