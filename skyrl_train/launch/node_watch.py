"""Watches the nodes of a trainer job: which one no longer reports, and which one ended the run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skyrl_train.launch import node_files
from skyrl_train.launch.node_files import ENDED, ENDING, NodeReport

BEAT_S = 10.0
PATIENCE_S = 18 * BEAT_S
"""A network file system may show a change a minute late. Slurm itself takes five minutes to notice a lost node."""
SILENT = "ended without a report: it was killed or the node is down"


class Beats:
    """Reads the nodes' reports; names a node that no longer reports."""

    def __init__(self, job_dir: str, nodes: Sequence[str], clock: Callable[[], float]) -> None:
        self._job_dir, self._nodes, self._clock = job_dir, nodes, clock
        self._seen = {node: (-1, clock()) for node in nodes}

    def lost(self) -> str:
        """The reason to end the job, or an empty text while every started node reports or has reported its end."""
        now = self._clock()
        for node, report in node_files.read_reports(self._job_dir, self._nodes).items():
            beat, since = self._seen[node]
            if report.beat != beat or report.state in (ENDING, ENDED):
                self._seen[node] = (report.beat, now)
            elif now - since > PATIENCE_S:
                return f"node {node} has not reported for {now - since:.0f} s: the node is down or hangs"
        return ""


@dataclass(frozen=True, slots=True)
class Cause:
    """What ended the run: the exit status of the first node that ended it, and one sentence about each node."""

    status: int
    reason: str


def cause(job_dir: str, nodes: Sequence[str]) -> Cause | None:
    """The cause of the run's end, or None if no node reported one.

    srun's exit status may be that of a node which it ended because of the first. If the trainer succeeded, a worker's
    status does not count.
    """
    if node_files.head_ended_well(job_dir):
        return Cause(0, "")
    reports = node_files.read_reports(job_dir, nodes)
    ended = sorted((one for one in reports.values() if _is_cause(one)), key=lambda one: one.at)
    silent = [f"node {node} {SILENT}" for node, one in reports.items() if one.state not in (ENDING, ENDED)]
    never = [f"node {node} never started its part" for node in nodes if node not in reports]
    if not (silent or never or ended):
        return None
    reason = "; ".join([*silent, *never, *(f"node {one.node}: {one.reason}" for one in ended)])
    return Cause(ended[0].status if ended and not silent and not never else 1, reason)


def _is_cause(one: NodeReport) -> bool:
    return one.state in (ENDING, ENDED) and bool(one.reason) and not one.signal
