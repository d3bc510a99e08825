"""TRN023: the turn of a weight sync, between real processes."""

import contextlib
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator

import pytest

from skyrl_train.rl.sync_turn import sync_turn

LIMIT_S = 60.0
HOLDER = """
import sys
from skyrl_train.rl.sync_turn import sync_turn
say = lambda text: print(text, flush=True)
with sync_turn(60.0, say, sys.argv[1]):
    say("syncs")
    sys.stdin.readline()
    say("has synced")
"""


@pytest.fixture
def name() -> str:
    """A turn of this test only."""
    return f"\0skyrl-test-{uuid.uuid4().hex}"


@contextlib.contextmanager
def another_run(name: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that takes the turn, and gives it back after a line on its stdin."""
    # An argument holds no zero byte, so the child puts it before the name.
    program = HOLDER.replace("sys.argv[1]", "chr(0) + sys.argv[1]")
    command = [sys.executable, "-c", program, name[1:]]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def waits_for(pid: int) -> str:
    return f"another run of this node (process {pid} of uid {os.getuid()}) syncs weights; waiting for at most 60 s"


def test_a_run_alone_does_not_wait(name: str) -> None:
    said: list[str] = []
    for _ in range(2):
        with sync_turn(0.0, said.append, name):
            said.append("syncs")
    assert said == ["syncs", "syncs"]


def test_a_second_run_waits_until_the_first_has_synced(name: str) -> None:
    with another_run(name) as first, another_run(name) as second:
        running = next_line(first), next_line(second)
        holder, waiter = (first, second) if running[0] == "syncs" else (second, first)
        assert set(running) == {"syncs", waits_for(holder.pid)}
        go_on(waiter)  # it reads this only in its turn
        go_on(holder)
        assert (next_line(holder), next_line(waiter), next_line(waiter)) == ("has synced", "syncs", "has synced")


def test_a_run_that_is_killed_gives_its_turn_back(name: str) -> None:
    with another_run(name) as holder, contextlib.ExitStack() as stack:
        assert next_line(holder) == "syncs"
        waiter = stack.enter_context(another_run(name))
        assert next_line(waiter) == waits_for(holder.pid)
        holder.kill()
        assert next_line(waiter) == "syncs"


def test_an_error_in_a_sync_gives_the_turn_back(name: str) -> None:
    said: list[str] = []
    with pytest.raises(ValueError, match="broken"), sync_turn(LIMIT_S, said.append, name):
        raise ValueError("broken")
    with sync_turn(0.0, said.append, name):
        assert said == []


def test_after_the_limit_a_run_syncs_without_a_turn_and_says_so(name: str) -> None:
    said: list[str] = []
    with another_run(name) as holder:
        assert next_line(holder) == "syncs"
        with sync_turn(0.0, said.append, name):
            said.append("syncs")
        go_on(holder)
        assert next_line(holder) == "has synced"
    assert said == [
        "another run of this node still syncs weights after 0 s; syncing at the same time (TRN023)",
        "syncs",
    ]


def test_one_of_many_that_wait_at_the_same_time_syncs(name: str) -> None:
    with another_run(name) as holder, contextlib.ExitStack() as stack:
        assert next_line(holder) == "syncs"
        waiters = [stack.enter_context(another_run(name)) for _ in range(3)]
        assert [next_line(waiter) for waiter in waiters] == [waits_for(holder.pid)] * 3
        for waiter in waiters:
            go_on(waiter)
        go_on(holder)
        ends = [waiter.communicate()[0].splitlines()[-2:] for waiter in waiters]
        assert ends == [["syncs", "has synced"]] * 3
