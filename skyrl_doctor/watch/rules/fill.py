"""MEM002, ENV007, CKP003: memory or a disk fills up. A line through its peaks gives the time left.

The memory of a GPU that trainer and vLLM share goes up and down with each phase: only the peak of each minute counts.
"""

from collections.abc import Mapping
from dataclasses import field
from itertools import pairwise

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Change, Cleared, Update, alert
from skyrl_doctor.watch.observations import Fill, Observation
from skyrl_doctor.watch.rules.base import Rule, duration, fix_config, fix_env

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
"""vLLM takes its share at once: a full GPU is normal, one that keeps filling up is not."""
_ADVICE = {
    "gpu": fix_config(
        "use a smaller micro batch or shorter responses, or turn on fused kernels and gradient checkpointing",
        Change("actor.micro_batch_size_per_gpu", times=0.5),
        Change("model.fused_kernels", "true"),
        Change("model.gradient_checkpointing", "true"),
    ),
    "host": fix_config(
        "ask Slurm for more memory, or use a smaller object store or fewer workers",
        Change("slurm.trainer_memory_mib", times=1.5),
    ),
    "disk": fix_config("delete old checkpoints or keep fewer of them", Change("trainer.checkpoints_to_keep", "1")),
    "inodes": fix_env("delete small files: caches, sandboxes, old logs"),
}

Points = tuple[tuple[float, float], ...]


@record
class FillState:
    """By name: when each span began and its peak; and the keys that are reported."""

    points: Mapping[str, Points] = field(default_factory=dict)
    reported: tuple[str, ...] = ()


def judge(state: FillState, observation: Observation) -> tuple[FillState, tuple[Update, ...]]:
    if not isinstance(observation, Fill) or observation.limit <= 0 or observation.kind not in _IDS:
        return state, ()
    name = f"{observation.kind}:{observation.name}"
    points = _with_peak(state.points.get(name, ()), observation)
    left_s = seconds_left(points, observation.limit)
    share = observation.used / observation.limit
    key = f"{_IDS[observation.kind]}.fill.{observation.name}"
    rising = left_s is not None and left_s <= SOON_S
    full = share >= _FULL_AT[observation.kind]
    reported = state.reported
    out: tuple[Update, ...] = ()
    if key not in reported and (rising or full):
        reported, out = (*reported, key), (_alert(observation, key, left_s if rising else None),)
    elif key in reported and not rising and share < FREE_AGAIN:
        reported, out = tuple(one for one in reported if one != key), (Cleared(at=observation.at, key=key),)
    return FillState({**state.points, name: points}, reported), out


def seconds_left(points: Points, limit: float) -> float | None:
    """Seconds until the line through the peaks reaches the limit; None while it does not rise or is unknown."""
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


def _with_peak(points: Points, observation: Fill) -> Points:
    if points and observation.at - points[-1][0] < SPAN_S:
        begun, peak = points[-1]
        return (*points[:-1], (begun, max(peak, observation.used)))
    return (*points, (observation.at, observation.used))[-SPANS:]


def _alert(observation: Fill, key: str, left_s: float | None) -> Update:
    used = f"{observation.name}: {observation.used:.1f} of {observation.limit:.1f} {observation.unit} used"
    severity = Severity.ERROR if left_s is None else Severity.WARNING
    if observation.kind == "inodes":
        message = f"{observation.name}: no inode is free"
    elif left_s is None:
        message = f"{used}; expected less than {_FULL_AT[observation.kind]:.0%}"
    else:
        message = f"{used}, and rising: full in {duration(left_s)}"
    kind = observation.kind
    return alert(observation.at, _IDS[kind], message, key=key, severity=severity, advice=_ADVICE[kind])


RULE = Rule("fill", FillState, judge)
