"""Puts the clocks of several logs on one timeline. A part that a clock does not write is taken from the job's other lines.

year   the year of the reference or the one beside it, whichever is nearer: a job may run into January
date   likewise, where only a time of day is written
zone   the zone, other than UTC, that some log of the job writes; else the zone of the site
"""

from collections import Counter
from collections.abc import Iterable
from datetime import date
from itertools import groupby
from typing import Protocol

from skyrl_doctor.logs.read.clock import Clock

_DAY_S = 86400.0
SLACK_S = 60.0
"""The lines of processes that share a file may be out of order by so much."""
_EPOCH = date(1970, 1, 1).toordinal()
_LEAP = 2000
"""The year where no line has one; a leap year has every date."""


class Timeline:
    """Turns clocks into seconds since the epoch."""

    def __init__(self, clocks: Iterable[Clock | None], *, site_s: int = 0) -> None:
        given = [clock for clock in clocks if clock is not None]
        zones = Counter(clock.zone for clock in given if clock.zone)
        self._site = zones.most_common(1)[0][0] if zones else site_s
        self._reference = self._reference_of(given)

    def at(self, clock: Clock | None) -> float | None:
        """The instant of a clock, in seconds since the epoch."""
        if clock is None:
            return None
        shift = self._site if clock.zone is None else clock.zone
        seconds = clock.second - (shift or 0)
        if clock.day is None:
            nearest = round((self._reference - seconds) / _DAY_S)
            return nearest * _DAY_S + seconds
        if clock.year is not None:
            return _midnight(clock.year, clock.day) + seconds
        middle = date.fromordinal(_EPOCH + int(self._reference // _DAY_S)).year
        return min(
            (_midnight(year, clock.day) + seconds for year in (middle, middle - 1, middle + 1)),
            key=lambda instant: abs(instant - self._reference),
        )

    def _reference_of(self, clocks: list[Clock]) -> float:
        """The instant that the other clocks are near: that of the first clock with the most complete date."""
        self._reference = _midnight(_LEAP, (1, 1))
        best = max(clocks, key=lambda clock: (clock.year is not None, clock.day is not None), default=None)
        if best is None:
            return self._reference
        if best.year is None and best.day is not None:
            shift = self._site if best.zone is None else best.zone
            return _midnight(_LEAP, best.day) + best.second - (shift or 0)
        return self.at(best) or 0.0


class Placed(Protocol):
    """Anything with a line number of a file and a clock."""

    @property
    def file(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def clock(self) -> Clock | None: ...


Instants = dict[tuple[str, int], float]


def instants(lines: Iterable[Placed], *, site_s: int = 0) -> Instants:
    """The instants of the lines that have a clock. In one file a later line is never earlier: clocks may be set back."""
    placed = sorted(lines, key=lambda line: (line.file, line.number))
    timeline = Timeline((line.clock for line in placed), site_s=site_s)
    found: Instants = {}
    for _, same in groupby(placed, key=lambda line: line.file):
        last: float | None = None
        for line in same:
            instant = timeline.at(line.clock)
            if instant is None:
                continue
            set_back = last is not None and SLACK_S < last - instant < _DAY_S
            last = last if set_back and last is not None else instant
            found[line.file, line.number] = last
    return found


def _midnight(year: int, day: tuple[int, int]) -> float:
    """The start of a day. The day may not exist: a line without a year may be of the 29th of February."""
    month = min(max(day[0], 1), 12)
    return (date(year, month, 1).toordinal() - _EPOCH + day[1] - 1) * _DAY_S
