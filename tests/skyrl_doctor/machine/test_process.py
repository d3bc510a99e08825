"""Commands: limits, groups, output."""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.process import OUTPUT_CAP, Child

WAIT_S = 100.0


@pytest.fixture
def machine() -> LocalMachine:
    return LocalMachine()


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def wait_until(condition: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(int(WAIT_S / 0.01)):
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError(f"not so within {WAIT_S:g} s")


def test_gives_status_and_output(machine: LocalMachine) -> None:
    done = machine.run(["sh", "-c", "echo out; echo err >&2; exit 3"], limit_s=WAIT_S)
    assert (done.rc, done.out, done.err, done.ok, done.why) == (
        3,
        "out\n",
        "err\n",
        False,
        "sh: exited with status 3: err",
    )


def test_a_missing_command_is_an_answer(machine: LocalMachine) -> None:
    done = machine.run(["no-such-command-anywhere"], limit_s=WAIT_S)
    assert (done.found, done.rc, done.why) == (False, None, "no-such-command-anywhere: command not found")


def test_a_file_that_cannot_be_executed_is_an_answer(machine: LocalMachine, tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\n", encoding="utf-8")
    done = machine.run([str(tmp_path / "tool")], limit_s=WAIT_S)
    assert (done.found, done.rc) == (True, 126)
    assert done.err == f"cannot be run: [Errno 13] Permission denied: '{tmp_path}/tool'"


def test_a_nul_byte_in_an_argument_is_an_answer(machine: LocalMachine) -> None:
    assert machine.run(["echo", "a\0b"], limit_s=WAIT_S).rc == 126


def test_no_input_is_given(machine: LocalMachine) -> None:
    assert machine.run(["cat"], limit_s=WAIT_S).rc == 0


def test_variables_are_added_and_taken_away() -> None:
    machine = LocalMachine({"PATH": os.environ["PATH"], "KEPT": "1", "GONE": "1"})
    done = machine.run(["sh", "-c", "echo $KEPT-$GONE-$NEW"], limit_s=WAIT_S, env={"GONE": None, "NEW": "2"})
    assert done.out == "1--2\n"


def test_the_whole_group_dies_at_the_limit(machine: LocalMachine, tmp_path: Path) -> None:
    script = f"sh -c 'echo $$ > {tmp_path}/grandchild; trap \"\" TERM; sleep 600; :' & wait"
    done = machine.run(["sh", "-c", script], limit_s=2.0)
    assert (done.timed_out, done.rc, done.why) == (True, None, "sh: timed out after 2 s")
    grandchild = int((tmp_path / "grandchild").read_text(encoding="utf-8"))
    wait_until(lambda: not alive(grandchild))


def test_a_grandchild_that_holds_the_pipe_does_not_hold_the_doctor(machine: LocalMachine, tmp_path: Path) -> None:
    done = machine.run(["sh", "-c", f"sleep 600 & echo $! > {tmp_path}/pid; echo done"], limit_s=WAIT_S)
    assert (done.rc, done.out) == (0, "done\n")
    lingering = int((tmp_path / "pid").read_text(encoding="utf-8"))
    wait_until(lambda: not alive(lingering))


def test_a_flood_is_cut_and_says_so(machine: LocalMachine) -> None:
    done = machine.run(["yes"], limit_s=WAIT_S)
    assert (done.truncated, done.ok, done.why) == (True, False, "yes: printed more than the doctor reads")
    assert OUTPUT_CAP <= len(done.out) <= OUTPUT_CAP + (1 << 17)


def test_a_command_that_closes_its_pipes_and_goes_on_is_still_limited(machine: LocalMachine) -> None:
    assert machine.run(["sh", "-c", "exec >&- 2>&-; sleep 600"], limit_s=0.3).timed_out


def test_large_output_comes_whole(machine: LocalMachine) -> None:
    done = machine.run([sys.executable, "-c", "print('x' * 3_000_000)"], limit_s=WAIT_S)
    assert len(done.out) == 3_000_001


def test_close_ends_what_still_runs(machine: LocalMachine) -> None:
    answers = []
    thread = threading.Thread(target=lambda: answers.append(machine.run(["sleep", "600"], limit_s=600.0)))
    thread.start()
    wait_until(lambda: bool(machine._processes._live))
    machine.close()
    thread.join(WAIT_S)
    assert [answer.rc for answer in answers] == [-15]
    assert machine.run(["true"], limit_s=WAIT_S).err == "cannot be run: the doctor is stopping"


def test_a_child_is_waited_for_until_a_condition_holds(tmp_path: Path) -> None:
    child = Child(["sh", "-c", f"touch {tmp_path}/there; sleep 600"])
    try:
        assert child.wait(WAIT_S, until=(tmp_path / "there").exists)
        assert not child.wait(0.0)
    finally:
        assert child.end(finish_s=0.0, grace_s=WAIT_S) == -15


def test_a_child_may_end_by_itself() -> None:
    child = Child(["sh", "-c", "sleep 0.2; exit 3"])
    assert child.end(finish_s=WAIT_S, grace_s=0.0) == 3


def test_a_childs_grandchild_that_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    child = Child(["sh", "-c", f"sh -c 'trap \"\" TERM; echo $$ > {tmp_path}/pid; sleep 600; :' & wait"])
    wait_until(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text()))
    assert child.end(finish_s=0.0, grace_s=0.2) == -15
    grandchild = int((tmp_path / "pid").read_text())
    wait_until(lambda: not alive(grandchild))
