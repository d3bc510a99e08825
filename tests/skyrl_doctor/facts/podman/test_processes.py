"""Who holds the store's namespace, and who only has the number of one who did."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.podman.processes import PidFile, PodmanProcesses, Process, parse_pid, parse_status

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
