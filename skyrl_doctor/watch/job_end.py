"""When the job is over: its flag file, its processes, Slurm, or a final log line after which no log grows."""

import os
from dataclasses import replace

from skyrl_doctor.core.record import record
from skyrl_doctor.watch.observations import Hit, Left, Observation
from skyrl_doctor.watch.rules.wall import OVER, TRAINER
from skyrl_train.contracts.job_files import COMPLETE

QUIET_S = 300.0
DRAIN_S = 2.0
"""Logs are read for a moment longer: the last lines matter most."""
FINAL_LINES = frozenset({"cancelled"})
"""Slurm's own line. Healthy runs log terminations too."""


@record
class JobEnd:
    """`final_line_at`: when a log had a final line. `over_at`: when the end was certain."""

    final_line_at: float | None = None
    grew_at: float = 0.0
    over_at: float | None = None
    why: str = ""


def after_observation(end: JobEnd, seen: Observation) -> JobEnd:
    if isinstance(seen, Hit) and seen.slug in FINAL_LINES:
        return replace(end, final_line_at=seen.at)
    if isinstance(seen, Left) and seen.job == TRAINER and seen.state in OVER:
        return _over(end, seen.at, f"the job's state in Slurm is {seen.state}")
    return end


def after_growth(end: JobEnd, now: float) -> JobEnd:
    """The state after new lines in a log."""
    return replace(end, grew_at=now)


def after_check(end: JobEnd, job_dir: str, now: float, *, alive: bool | None) -> JobEnd:
    """The state after a check of flag, directory and processes. `alive` is None where the user named no process."""
    if os.path.exists(os.path.join(job_dir, COMPLETE)):
        return _over(end, now, f"{COMPLETE} exists")
    if alive is False:
        return _over(end, now, "the process exited")
    if not os.path.isdir(job_dir):
        return _over(end, now, f"{job_dir} was removed")
    if end.final_line_at is not None and now - max(end.final_line_at, end.grew_at) >= QUIET_S:
        return _over(end, now, "a log has a final line and no log has grown since")
    return end


def is_over(end: JobEnd, now: float) -> bool:
    return end.over_at is not None and now - max(end.over_at, min(end.grew_at, end.over_at + DRAIN_S)) >= DRAIN_S


def _over(end: JobEnd, now: float, why: str) -> JobEnd:
    return end if end.over_at is not None else replace(end, over_at=now, why=why)
