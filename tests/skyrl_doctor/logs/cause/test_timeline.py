"""Which of several logs' lines was first, with clocks that leave things out, are set back or are of several zones."""

import pytest

from skyrl_doctor.logs.cause.root_cause import find_root_cause
from skyrl_doctor.logs.cause.timeline import Timeline
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import load_signatures
from skyrl_doctor.logs.read.clock import CLOCK, Clock, parse_clock

PATTERNS = Patterns(load_signatures())
LOCKED = "Error: beginning container create transaction: database is locked"
SLOTS = "No available worker slots"
HOUR_S = 3600


def clock(text: str) -> Clock:
    found = CLOCK.search(text.encode())
    assert found is not None
    return parse_clock(found)


def root(*files: str, site_s: int = 0) -> str | None:
    scans = [scan_chunks(f"{'ab'[at]}.log", [text.encode()], PATTERNS, order=at) for at, text in enumerate(files)]
    found = find_root_cause(scans, site_s=site_s).root
    return found.failure.name if found else None


@pytest.mark.parametrize(
    ("early", "late"),
    [
        ("2026-03-02T08:59:00Z", "2026-03-02T09:30:00+00:00"),
        ("2026-03-02T09:30:00+02:00", "2026-03-02T08:00:00Z"),  # another zone
        ("2026-03-02 09:00:00+0100", "2026-03-02 03:30:00-0500"),
        ("Dec 31 23:59:00 gpu07", "2027-01-01 00:10:00"),  # no year, beside one
        ("ERROR 12-31 23:50:00 [core.py:1]", "ERROR 01-01 00:10:00 [core.py:1]"),  # no year at all
        ("[E1231 23:50:00.1 ProcessGroupNCCL.cpp:6]", "Jan  1 00:10:00 gpu07"),
        ("2026-03-02 23:59:00", "00:10:00 - openhands:ERROR:"),  # no date
        ("08:43:26 - openhands:ERROR:", "2026-03-02 09:00:00"),
        ('{"ts": 1772442843.5}', "2026-03-02T09:20:00Z"),  # the epoch
        ("[03/02/26 09:00:00] ERROR", "2026-03-02 09:10:00,120"),
        ("2026-02-28 23:00:00", "ERROR 02-29 00:00:00"),  # a day that may not be
    ],
)
def test_which_is_first(early: str, late: str) -> None:
    assert root(f"{early} {LOCKED}\n", f"{late} {SLOTS}\n") == "POD009"
    assert root(f"{late} {LOCKED}\n", f"{early} {SLOTS}\n") == "RUN005"


def test_logs_without_a_zone_are_of_the_sites() -> None:
    utc, local = f"2026-03-02T08:30:00Z {LOCKED}\n", f"2026-03-02 09:20:00 {SLOTS}\n"
    assert root(utc, local) == "POD009"
    assert root(utc, local, site_s=HOUR_S) == "RUN005"
    told = f"2026-03-02T07:00:00+01:00 Error: 0 errors, {SLOTS}\n"
    assert Timeline([clock(utc), clock(local), clock(told)]).at(clock(local)) == Timeline(
        [clock(utc)], site_s=HOUR_S
    ).at(clock(local))


def test_in_one_file_a_later_line_is_not_earlier() -> None:
    back = f"2026-03-02 09:30:00 {LOCKED}\n2026-03-02 08:30:00 {SLOTS}\n"  # set back an hour
    assert root(back) == "POD009"
    assert root(f"2026-03-02 09:00:00 {LOCKED}\n", f"2026-03-02 09:30:00 x\n2026-03-02 08:30:00 {SLOTS}\n") == "RUN005"
    between = "2026-03-02 09:15:00 RecursionError: maximum recursion depth exceeded\n"
    assert root(back.replace("09:30:00", "09:10:00"), between) == "POD009"


def test_processes_that_share_a_file_may_be_seconds_apart() -> None:
    mixed = f"2026-03-02 09:00:05 {SLOTS}\n2026-03-02 09:00:01 {LOCKED}\n"
    assert root(mixed) == "POD009"


def test_a_line_was_written_when_its_first_clock_says() -> None:
    told = f"2026-03-02 09:00:00 {LOCKED}, last seen at 2026-03-01 10:00:00\n"
    assert root(told, f"2026-03-02 08:00:00 {SLOTS}\n") == "RUN005"


def test_an_odd_clock_far_ahead_does_not_stay() -> None:
    odd = f"2031-01-01 00:00:00 Cleanup error: x\n2026-03-02 08:30:00 {SLOTS}\n"
    assert root(odd, f"2026-03-02 09:00:00 {LOCKED}\n") == "RUN005"


def test_a_log_without_clocks_is_ordered_by_what_depends_on_what() -> None:
    assert root(f"{LOCKED}\n", f"2026-03-02 09:00:00 {SLOTS}\n") == "POD009"
