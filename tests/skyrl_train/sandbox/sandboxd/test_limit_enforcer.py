"""What the warden of a sandbox says, and when."""

import signal

import pytest

from skyrl_train.contracts.sandboxd_api import LIMIT
from skyrl_train.sandbox.sandboxd import limit_enforcer


@pytest.mark.parametrize("gone", [False, True])
def test_why_a_command_was_ended_is_known_before_it_is(monkeypatch: pytest.MonkeyPatch, gone: bool) -> None:
    """Whoever waits for the command asks at once, and a sandbox in which nothing else runs is over with it."""
    logged, known = list[str](), list[tuple[str, list[str]]]()
    made = limit_enforcer.Warden(processes=4, memory_mib=0, log=logged.append)

    def kill(pid: int, number: signal.Signals) -> None:
        assert (pid, number) == (-1, signal.SIGKILL)
        known.append((made.said_since(0.0), list(logged)))
        if gone:
            raise ProcessLookupError

    monkeypatch.setattr(limit_enforcer.os, "kill", kill)
    made._end_all()
    said = "more than the 4 processes that a sandbox may have: all were ended"
    assert known == [(said, [LIMIT + said])]
