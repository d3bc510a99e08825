"""When the last line of a run's logs was written, by its own clock."""

import os
from collections.abc import Sequence

from skyrl_doctor.logs.cause.clock_span import last_clock
from skyrl_doctor.watch.follow.files import listing


def last_line_time(places: Sequence[str]) -> str:
    """The time of day in the log that grew last, of those whose lines have clocks; empty where none has."""
    for path in sorted((seen.path for seen in listing(places).files), key=_grown_at, reverse=True):
        if clock := last_clock(path):
            minutes, second = divmod(int(clock.second), 60)
            return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}"
    return ""


def _grown_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
