"""Decides which targets are runs of their own and which complete each other."""

from collections import Counter
from collections.abc import Sequence

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.plan.dialects.reading import Reading

Targets = list[tuple[str, Reading]]
WHOLE = "a whole run"


def ambiguous(readings: Sequence[tuple[str, Reading]]) -> list[tuple[str, str]]:
    """The parts among several whole runs, which could complete any of them: target and reason."""
    whole = [target for target, reading in readings if not reading.part]
    if len(whole) < 2:
        return []
    return [
        (target, f"target {target} ({reading.part}) may complete any of {len(whole)} runs; pass it with one of them")
        for target, reading in readings
        if reading.part
    ]


def group_runs(readings: Sequence[tuple[str, Reading]]) -> list[Targets]:
    """The targets of each run: files of one kind are runs of their own, files of different kinds complete each other.

    Raises UsageError if both are there, because nothing says which file completes which.
    """
    kinds = Counter(reading.part or WHOLE for _, reading in readings)
    if len(kinds) <= 1:
        return [[reading] for reading in readings]
    if max(kinds.values()) == 1:
        return [list(readings)]
    for _, reason in ambiguous(readings):
        raise UsageError(reason)
    several, count = kinds.most_common(1)[0]
    other, reading = next((target, reading) for target, reading in readings if (reading.part or WHOLE) != several)
    raise UsageError(
        f"target {other} ({reading.part or WHOLE}) may complete any of {count} others (each {several}); pass one run at a time"
    )
