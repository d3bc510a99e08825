"""The first and the last clock of a log, of lines that have one of their own, and the time between them."""

import os

from skyrl_doctor.logs.cause.timeline import Timeline
from skyrl_doctor.logs.read.clock import CLOCK, Clock, parse_clock
from skyrl_doctor.logs.read.noise import clean
from skyrl_train.contracts import bounded

ENDS = 1 << 18
"""Bytes that are read at each end of a file."""
HEAD = 80
"""A line's own clock begins within so many bytes: a later one is of something that the line quotes."""
LONGEST_S = 400 * 86400.0


def clock_span(path: str) -> float | None:
    """The seconds between the first and the last clock; None where there are no two that agree on what they write."""
    first, last = _first_clock(path), last_clock(path)
    if first is None or last is None or _form(first) != _form(last):
        return None
    timeline = Timeline([first, last])
    begin, end = timeline.at(first), timeline.at(last)
    if begin is None or end is None or first.day is None:  # a time of day alone may be of any day
        return None
    return end - begin if 0 < end - begin <= LONGEST_S else None


def last_clock(path: str) -> Clock | None:
    """The clock of the last line that has one, near the end of the file."""
    return next((clock for line in reversed(_lines(path, at_end=True)) if (clock := _own_clock(line))), None)


def _first_clock(path: str) -> Clock | None:
    return next((clock for line in _lines(path, at_end=False) if (clock := _own_clock(line))), None)


def _lines(path: str, *, at_end: bool) -> list[bytes]:
    """The lines of one end of the file; none where it cannot be read."""
    try:
        with bounded.open_file(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - ENDS) if at_end else 0)
            return file.read(ENDS).split(b"\n")
    except OSError:
        return []


def _own_clock(line: bytes) -> Clock | None:
    found = CLOCK.search(clean(line[: 4 * HEAD]).rstrip(b"\r"))
    return parse_clock(found) if found and found.start() < HEAD else None


def _form(clock: Clock) -> tuple[bool, bool, int | None]:
    """Which parts a clock writes. Two clocks of other forms are of other programs, and of other zones perhaps."""
    return clock.year is not None, clock.day is not None, clock.zone
