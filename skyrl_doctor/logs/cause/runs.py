"""The earlier runs of files that hold several, such as the log of a job that was requeued: each is judged by itself."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.hits import Hit
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.judge.tally import Scan


class Judged(Protocol):
    """What is found in one run."""

    @property
    def root(self) -> Hit | None: ...
    @property
    def unknown(self) -> Line | None: ...


@record
class EarlierRun:
    """A run above the last one of its file: its lines, and its root cause or unknown error, if it has one."""

    file: str
    first: int
    last: int
    root: Hit | None
    unknown: Line | None


def judge_earlier_runs(scans: Sequence[Scan], judge: Callable[[Sequence[Scan]], Judged]) -> tuple[EarlierRun, ...]:
    """The earlier runs of all files, in the order of the files; of each file the last few."""
    found = []
    for scan in scans:
        for run, following in pairwise((*scan.earlier, scan)):
            judged, last = judge((run,)), following.first_line - 1
            found.append(EarlierRun(scan.file, run.first_line, last, judged.root, judged.unknown))
    return tuple(found)
