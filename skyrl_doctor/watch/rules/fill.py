"""MEM002, ENV007, CKP003: memory or a disk fills up. A line is fitted through its peaks; the time left is read off it.

A GPU that trainer and vLLM share goes up and down with each phase: only the highest of each span counts.
"""

from collections.abc import Mapping
from dataclasses import field
from itertools import pairwise

from skyrl_doctor.core.model import Remedy, RemedyKind, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Cleared, Said, raised
from skyrl_doctor.watch.observations import Fill, Observation
from skyrl_doctor.watch.rules.base import Rule, fix_config, lasting

SPAN_S = 60.0
SPANS = 12
LEAST_SPANS = 6
SOON_S = 3600.0
LEAST_RISE = 0.02
"""Of the limit, from the first to the last peak: less is noise."""
MOSTLY = 0.6
FREE_AGAIN = 0.90

_IDS = {"gpu": "MEM002", "host": "ENV007", "disk": "CKP003", "inodes": "CKP003"}
_FULL_AT = {"gpu": 1.1, "host": 0.97, "disk": 0.97, "inodes": 0.97}
"""vLLM takes what it is given at once: a GPU that is full is as it should be, one that fills up is not."""
_REMEDIES = {
    "gpu": fix_config("lower the micro-batch or the response length, or turn fused kernels and checkpointing on"),
    "host": fix_config("ask for more memory (--mem), or lower the object store and the number of workers"),
    "disk": Remedy(kind=RemedyKind.FIX_ENV, summary="remove old checkpoints, or keep fewer (max_actor_ckpt_to_keep)"),
    "inodes": Remedy(kind=RemedyKind.FIX_ENV, summary="remove small files: caches, sandboxes, old logs"),
}

Points = tuple[tuple[float, float], ...]


@record
class State:
    """By name: when each span began and its highest value; and what was said."""

    points: Mapping[str, Points] = field(default_factory=dict)
    said: tuple[str, ...] = ()


def judge(state: State, seen: Observation) -> tuple[State, tuple[Said, ...]]:
    if not isinstance(seen, Fill) or seen.limit <= 0 or seen.kind not in _IDS:
        return state, ()
    name = f"{seen.kind}:{seen.name}"
    points = _with_peak(state.points.get(name, ()), seen)
    left_s = seconds_left(points, seen.limit)
    share = seen.used / seen.limit
    key = f"{_IDS[seen.kind]}.fill.{seen.name}"
    rising = left_s is not None and left_s <= SOON_S
    full = share >= _FULL_AT[seen.kind]
    said: tuple[str, ...] = state.said
    out: tuple[Said, ...] = ()
    if key not in said and (rising or full):
        said, out = (*said, key), (_finding(seen, key, left_s if rising else None),)
    elif key in said and not rising and share < FREE_AGAIN:
        said, out = tuple(one for one in said if one != key), (Cleared(at=seen.at, key=key),)
    return State({**state.points, name: points}, said), out


def seconds_left(points: Points, limit: float) -> float | None:
    """Until the line through the peaks reaches the limit; None where it does not rise, or is not known yet."""
    if len(points) < LEAST_SPANS:
        return None
    whole = points[:-1]  # the last span has not ended
    mean_t = sum(t for t, _ in whole) / len(whole)
    mean_v = sum(v for _, v in whole) / len(whole)
    spread = sum((t - mean_t) ** 2 for t, _ in whole)
    slope = sum((t - mean_t) * (v - mean_v) for t, v in whole) / spread if spread else 0.0
    rise = slope * (whole[-1][0] - whole[0][0])
    rising = sum(later > earlier for (_, earlier), (_, later) in pairwise(whole))
    if slope <= 0 or rise < LEAST_RISE * limit or rising < MOSTLY * (len(whole) - 1):  # one jump is no climb
        return None
    return max(0.0, (limit - max(v for _, v in points)) / slope)


def _with_peak(points: Points, seen: Fill) -> Points:
    if points and seen.at - points[-1][0] < SPAN_S:
        begun, peak = points[-1]
        return (*points[:-1], (begun, max(peak, seen.used)))
    return (*points, (seen.at, seen.used))[-SPANS:]


def _finding(seen: Fill, key: str, left_s: float | None) -> Said:
    stands = f"{seen.name} holds {seen.used:.1f} of {seen.limit:.1f} {seen.unit}"
    if left_s is None:
        message, severity = f"{stands}; wanted less than {_FULL_AT[seen.kind]:.0%}", Severity.ERROR
    else:
        message, severity = f"{stands} and rises: full in {lasting(left_s)}; wanted a level line", Severity.WARNING
    return raised(seen.at, _IDS[seen.kind], message, key=key, severity=severity, remedy=_REMEDIES[seen.kind])


RULE = Rule("fill", State, judge)
