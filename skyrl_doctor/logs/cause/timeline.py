"""Clocks of several logs on one line. What a line leaves out of its clock is taken from the other lines of the job.

year   of the reference, or one beside it, so that the whole is nearest: a job may run into January
date   likewise, where only a time of day is written
zone   that which some log of the job writes, beside UTC; else that of the machine that reads. Logs without a zone are taken
       to be written in the site's
"""

from collections import Counter
from collections.abc import Iterable
from datetime import date
from itertools import groupby
from typing import Protocol

from skyrl_doctor.logs.read.clock import Clock

_DAY_S = 86400.0
SLACK_S = 60.0
"""Processes that write into one file, each in its time, may be so far apart."""
_EPOCH = date(1970, 1, 1).toordinal()
_LEAP = 2000
"""The year where no line has one: it has every day."""


class Timeline:
    """Seconds since the epoch for clocks that can be compared."""

    def __init__(self, clocks: Iterable[Clock | None], *, site_s: int = 0) -> None:
        known = [clock for clock in clocks if clock is not None]
        zones = Counter(clock.zone for clock in known if clock.zone)
        self._site = zones.most_common(1)[0][0] if zones else site_s
        self._reference = self._of(known)

    def at(self, clock: Clock | None) -> float | None:
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

    def _of(self, clocks: list[Clock]) -> float:
        """What the other clocks are near to: the first with the most of a date."""
        self._reference = _midnight(_LEAP, (1, 1))
        best = max(clocks, key=lambda clock: (clock.year is not None, clock.day is not None), default=None)
        if best is None:
            return self._reference
        if best.year is None and best.day is not None:
            shift = self._site if best.zone is None else best.zone
            return _midnight(_LEAP, best.day) + best.second - (shift or 0)
        return self.at(best) or 0.0


class Placed(Protocol):
    """What stands in a line of a file."""

    @property
    def file(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def clock(self) -> Clock | None: ...


Instants = dict[tuple[str, int], float]


def instants(lines: Iterable[Placed], *, site_s: int = 0) -> Instants:
    """When the lines were written, as far as they tell. In one file a later line is not earlier: clocks are set back."""
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
    """Also of a day that is not: a line without a year may have written the 29th of February."""
    month = min(max(day[0], 1), 12)
    return (date(year, month, 1).toordinal() - _EPOCH + day[1] - 1) * _DAY_S
