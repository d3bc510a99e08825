"""What the enforcer of a sandbox says, and when."""

import os
import signal

import pytest

from skyrl_train.contracts.sandboxd_api import LIMIT
from skyrl_train.sandbox.sandboxd import limit_enforcer


@pytest.mark.parametrize("gone", [False, True])
def test_why_a_command_was_ended_is_known_before_it_is(monkeypatch: pytest.MonkeyPatch, gone: bool) -> None:
    """Whoever waits for the command asks at once, and a sandbox in which nothing else runs is over with it."""
    logged, known = list[str](), list[tuple[str, list[str]]]()
    made = limit_enforcer.LimitEnforcer(processes=4, memory_mib=0, log=logged.append)

    def kill(pid: int, number: signal.Signals) -> None:
        assert (pid, number) == (-1, signal.SIGKILL)
        known.append((made.said_since(0.0), list(logged)))
        if gone:
            raise ProcessLookupError

    monkeypatch.setattr(limit_enforcer.os, "kill", kill)
    made._end_all()
    said = "more than the limit of 4 processes: all were killed"
    assert known == [(said, [LIMIT + said])]


def test_files_of_memory_are_counted_once_and_charged_to_their_holder(monkeypatch: pytest.MonkeyPatch) -> None:
    descriptor = os.memfd_create("held")
    second = os.dup(descriptor)
    try:
        os.write(descriptor, bytes(8 << 20))
        held = limit_enforcer._memory_files(os.getpid())
        assert held[os.fstat(descriptor).st_ino] == 8 << 10
        ended: list[tuple[int, int]] = []
        monkeypatch.setattr(limit_enforcer.os, "kill", lambda pid, number: ended.append((pid, number)))
        monkeypatch.setattr(limit_enforcer, "_shm_kib", lambda: 0)
        monkeypatch.setattr(limit_enforcer, "_memory_files", lambda _pid: {1: 8 << 10, 2: 99 << 20})
        monkeypatch.setattr(limit_enforcer, "_SHARED_EVERY", 1)
        enforcer = limit_enforcer.LimitEnforcer(processes=0, memory_mib=4096, log=lambda _line: None)
        enforcer._weigh([os.getpid()])
        assert ended == [(os.getpid(), 9)]
    finally:
        os.close(descriptor)
        os.close(second)
