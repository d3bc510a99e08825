"""Waiting no longer than a limit."""

import threading

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.time_limit import call_within


def test_gives_the_result_or_what_was_raised() -> None:
    assert call_within(5.0, lambda: 42, "it") == 42
    with pytest.raises(ZeroDivisionError):
        call_within(5.0, lambda: 1 // 0, "it")
    with pytest.raises(RuntimeError, match="it raised SystemExit"):
        call_within(5.0, lambda: (_ for _ in ()).throw(SystemExit(3)), "it")


def test_what_takes_longer_is_given_up_by_name() -> None:
    never = threading.Event()
    with pytest.raises(CouldNotLook, match=r"^the mount gave no answer within its limit of 0\.05 s$"):
        call_within(0.05, lambda: never.wait(60.0), "the mount")
    never.set()


@pytest.mark.parametrize("limit_s", [0.0, -1.0])
def test_nothing_is_started_after_the_deadline(limit_s: float) -> None:
    started: list[int] = []
    with pytest.raises(CouldNotLook, match="it was not reached before the deadline"):
        call_within(limit_s, lambda: started.append(1), "it")
    assert started == []
