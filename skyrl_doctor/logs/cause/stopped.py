"""The last step of a run whose log has no end: it still runs, or it was ended from outside."""

import re
from collections.abc import Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.tally import Scan

_STEP = re.compile(rb"\bstep:(\d{1,9}) - |\bStep (\d{1,9}) \|")
_PROGRESS = re.compile(rb"[| ](\d{1,9})/(\d{1,9}) \[")
_LAST_PROGRESS = 1
"""A progress bar is drawn before the line of its step or after it."""


@record
class Stopped:
    """The last step in a log, and the number of steps of the run; `total` is None where no progress bar shows it."""

    file: str
    line: int
    step: int
    total: int | None
    slurm_id: str


def find_stopped(scans: Sequence[Scan], slurm_id: str) -> Stopped | None:
    """The last step of the log that has the most; None for a run that reached its last step, and for logs without steps."""
    found = [stopped for scan in scans if (stopped := _in_file(scan, slurm_id))]
    last = max(found, key=lambda one: one.step, default=None)
    return None if last is None or (last.total is not None and last.step >= last.total) else last


def _in_file(scan: Scan, slurm_id: str) -> Stopped | None:
    if not scan.steps:
        return None
    steps = [int(found[1] or found[2]) for found in _STEP.finditer(scan.last_step)]
    if not steps:
        return None
    progress = (tuple(map(int, found.groups())) for found in _PROGRESS.finditer(scan.last_step))
    totals = [total for done, total in progress if abs(done - steps[-1]) <= _LAST_PROGRESS and total >= done]
    total = totals[-1] if totals else None
    return Stopped(scan.file, scan.steps[-1].number, steps[-1], total, slurm_id)
