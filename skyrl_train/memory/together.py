"""Finds the fewest changes that make a run fit together, where none of them does alone."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from skyrl_train.memory.budget import budget
from skyrl_train.memory.changes import Change, trains_otherwise, with_changes
from skyrl_train.memory.device import Device
from skyrl_train.memory.job import Job
from skyrl_train.memory.shape import ModelShape

TRIED = 5
"""The changes that are combined, of each kind: at most 40 pairs and triples."""
MOST_TOGETHER = 3


def fit_together(
    shape: ModelShape, job: Job, device: Device, found: Sequence[Change], *, free: int | None = None
) -> tuple[Change, ...]:
    """The fewest of these changes, best first, with which the run fits; none if they do not, or if one is enough.

    Changes of what is trained are combined only if the others are not enough.
    """
    if any(change.budget.fits for change in found):
        return ()
    other = [change for change in found if trains_otherwise(change)]
    same = [change for change in found if change not in other]
    mixed = [*same[: TRIED - len(other)], *other]
    tried = [*_combined(same[:TRIED]), *(some for some in _combined(mixed) if any(map(trains_otherwise, some)))]
    for some in tried:
        changed = with_changes(job, some)
        if changed is not None and budget(shape, changed, device, free=free).fits:
            return some
    return ()


def _combined(found: Sequence[Change]) -> Iterator[tuple[Change, ...]]:
    for count in range(2, MOST_TOGETHER + 1):
        yield from combinations(found, count)
