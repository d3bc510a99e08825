"""The clocks that programs write."""

import pytest

from skyrl_doctor.logs.clock import last_clock


@pytest.mark.parametrize(
    "line",
    [
        b"2026-03-02 09:14:03,500\tINFO worker.py:1942 -- Started",
        b"INFO 03-02 09:14:03.5 [core.py:58]",
        b'time="2026-03-02T09:14:03.5+01:00" level=error',
        b"[2026-03-02 09:14:03,500][verl][INFO]",
    ],
)
def test_clocks(line: bytes) -> None:
    assert last_clock(b"2026-01-01 00:00:00 before\n" + line + b"\nnone") == (3, 2, 9, 14, 3.5)


def test_none() -> None:
    assert last_clock(b"") is None
    assert last_clock(b"09:14:03    INFO Starting\n0/8 [00:15:23<?]\n") is None
