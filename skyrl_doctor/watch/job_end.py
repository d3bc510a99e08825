"""When the job is over: its flag, its processes, Slurm, or last words after which no log grows."""

import os
from dataclasses import replace

from skyrl_doctor.core.record import record
from skyrl_doctor.watch.observations import Hit, Left, Observation
from skyrl_doctor.watch.rules.wall import OVER, TRAINER
from skyrl_train.contracts.job_files import COMPLETE

QUIET_S = 300.0
DRAIN_S = 2.0
"""Logs are read on for a moment after the end: the last lines are the interesting ones."""
LAST_WORDS = frozenset({"cancelled"})
"""Slurm's own. That something was terminated is said in healthy runs too."""


@record
class Ending:
    """`words_at`: when a log said last words. `over_at`: when the end was certain."""

    words_at: float | None = None
    grew_at: float = 0.0
    over_at: float | None = None
    why: str = ""


def noted(ending: Ending, seen: Observation) -> Ending:
    if isinstance(seen, Hit) and seen.slug in LAST_WORDS:
        return replace(ending, words_at=seen.at)
    if isinstance(seen, Left) and seen.job == TRAINER and seen.state in OVER:
        return _over(ending, seen.at, f"Slurm says that the job is {seen.state}")
    return ending


def grown(ending: Ending, now: float) -> Ending:
    """A log has new lines."""
    return replace(ending, grew_at=now)


def looked(ending: Ending, job_dir: str, now: float, *, alive: bool | None) -> Ending:
    """`alive`: whether any of the processes that were named lives; None where none was named."""
    if os.path.exists(os.path.join(job_dir, COMPLETE)):
        return _over(ending, now, f"{COMPLETE} is there")
    if alive is False:
        return _over(ending, now, "the process has ended")
    if not os.path.isdir(job_dir):
        return _over(ending, now, f"{job_dir} is gone")
    if ending.words_at is not None and now - max(ending.words_at, ending.grew_at) >= QUIET_S:
        return _over(ending, now, "the logs say so, and grow no more")
    return ending


def is_over(ending: Ending, now: float) -> bool:
    return (
        ending.over_at is not None
        and now - max(ending.over_at, min(ending.grew_at, ending.over_at + DRAIN_S)) >= DRAIN_S
    )


def _over(ending: Ending, now: float, why: str) -> Ending:
    return ending if ending.over_at is not None else replace(ending, over_at=now, why=why)
