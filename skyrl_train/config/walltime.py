"""Slurm's time limits as minutes (SLM001)."""

import re
from collections.abc import Iterator

from skyrl_train.contracts.violation import Violation

PATTERN = r"^(?:\d+|\d+:\d{1,2}|\d+:\d{1,2}:\d{1,2}|\d+-\d{1,2}(?::\d{1,2}){0,2}|UNLIMITED|INFINITE)$"
"""minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds"""

_TIME = re.compile(PATTERN)
UNLIMITED = float("inf")


def minutes(text: str) -> float | None:
    """`6:00:00` -> 360.0; None for an invalid limit. Unlike sbatch, seconds are not rounded up to a minute."""
    found = _TIME.match(text.strip())
    if found is None:
        return None
    if text.strip() in ("UNLIMITED", "INFINITE"):
        return UNLIMITED
    days, has_days, rest = text.strip().rpartition("-")
    parts = [int(part) for part in rest.split(":")]
    if has_days:
        hours, minute, second = (*parts, 0, 0)[:3]
        return int(days) * 1440 + hours * 60 + minute + second / 60
    if len(parts) == 3:
        return parts[0] * 60 + parts[1] + parts[2] / 60
    return parts[0] + (parts[1] / 60 if len(parts) == 2 else 0)


def walltime_violations(*, trainer: str, runtime: str) -> Iterator[Violation]:  # FIX(SLM001)
    """A runtime job with a shorter time limit than the trainer, which needs its sandboxes."""
    training, serving = minutes(trainer), minutes(runtime)
    if training is None or serving is None or serving >= training:
        return
    yield Violation(
        key="slurm.runtime_time_limit",
        message=f"the runtime job ends after {runtime}, before the trainer that needs it ({trainer}); use at least {trainer}",
        settings={"slurm.runtime_time_limit": trainer},
    )
