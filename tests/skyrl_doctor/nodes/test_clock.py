"""The time over TCP, on the loopback."""

import time

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.nodes.clock import measure_clock, serve_time


def test_our_own_clock_is_right_within_its_error() -> None:
    with serve_time() as port:
        clock = measure_clock("127.0.0.1", port)
    assert abs(clock.offset_s) <= clock.error_s + 0.001


def test_a_clock_that_is_ahead_is_seen() -> None:
    with serve_time() as port:
        clock = measure_clock("127.0.0.1", port, now=lambda: time.time() + 40)
    assert clock.offset_s == pytest.approx(40, abs=clock.error_s + 0.001)


def test_nobody_there_is_no_clock() -> None:
    with serve_time() as port:
        pass
    with pytest.raises(CouldNotLook, match="127"):
        measure_clock("127.0.0.1", port)
    with pytest.raises(CouldNotLook):
        measure_clock("", port)
