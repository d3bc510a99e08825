"""The clocks that programs write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.logs.read.clock import CLOCK, Clock, parse_clock

MORNING = 9 * 3600 + 14 * 60 + 3.5


@pytest.mark.parametrize(
    ("line", "year", "zone"),
    [
        (b"2026-03-02 09:14:03,500\tINFO worker.py:1942 -- Started", 2026, None),
        (b"INFO 03-02 09:14:03.5 [core.py:58]", None, None),
        (b'time="2026-03-02T09:14:03.5+01:00" level=error', 2026, 3600),
        (b"2026-03-02T09:14:03.500Z", 2026, 0),
        (b"2026-03-02 09:14:03.5 -0530 x", 2026, -19800),
        (b"[2026-03-02 09:14:03,500][verl][INFO]", 2026, None),
        (b"[2026-03-02 09:14:03,500 E 812 812] (raylet) node_manager.cc:1", 2026, None),
        (b"2026/03/02 09:14:03.5 [error]", 2026, None),
        (b"[rank1]:[E302 09:14:03.5 ProcessGroupNCCL.cpp:616]", None, None),
        (b"E0302 09:14:03.500000  123 pjrt.cc:1]", None, None),
        (b"Mar  2 09:14:03.5 gpu07 kernel: oom", None, None),
        (b"[Mon Mar  2 09:14:03.5 2026] Out of memory", 2026, None),
        (b"[03/02/26 09:14:03.5] INFO     Started container", 2026, None),
        (b'10.0.0.3 - - [02/Mar/2026:09:14:03.5 +0100] "GET / HTTP/1.1" 200', 2026, 3600),
        (b"slurmstepd: error: *** JOB 4711 ON gpu07 CANCELLED AT 2026-03-02T09:14:03.5 ***", 2026, None),
    ],
)
def test_clocks(line: bytes, year: int | None, zone: int | None) -> None:
    found = CLOCK.search(line)
    assert found is not None
    assert parse_clock(found) == Clock(year, (3, 2), MORNING, zone)


@pytest.mark.parametrize(
    "line", [b"09:14:03.5 - openhands:ERROR: x", b"(W pid=3, ip=10.0.0.1) 09:14:03.5    INFO Starting"]
)
def test_a_time_of_day(line: bytes) -> None:
    found = CLOCK.search(line)
    assert found is not None
    assert parse_clock(found) == Clock(None, None, MORNING, None)


@pytest.mark.parametrize(
    "line",
    [
        b'{"level": "error", "ts": 1772442843.5, "msg": "x"}',
        b'{"ts": 1772442843500, "msg": "x"}',
        b"1772442843.5 error",
        b"[1772442843.5] x",
        b"*** SIGABRT received at time=1772442843.5 on cpu 44 ***",
    ],
)
def test_seconds_since_the_epoch(line: bytes) -> None:
    found = CLOCK.search(line)
    assert found is not None
    assert parse_clock(found) == Clock(2026, (3, 2), MORNING, 0)


def test_none() -> None:
    for line in (
        b"",
        b"0/8 [00:15:23<?]",
        b"2026-03-02",
        b"seed=1772442843",
        b"pid 1772442843",
        b"took 09:14:03 in all",
    ):
        assert CLOCK.search(line) is None


@given(st.binary(max_size=80))
def test_any_match_is_a_clock(text: bytes) -> None:
    for found in CLOCK.finditer(b"2026-13-39 99:99:99 " + text):
        assert parse_clock(found).second >= 0
