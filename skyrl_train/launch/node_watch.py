"""The nodes of a trainer job as its supervisor sees them: which one is silent, and which one ended the run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skyrl_train.launch import node_files
from skyrl_train.launch.node_files import ENDED, ENDING, NodeState

BEAT_S = 10.0
PATIENCE_S = 18 * BEAT_S
"""A network file system may show a change a minute late; Slurm itself takes five to miss a node."""
SILENT = "ended without a word: it was killed, or the node is down"


class Beats:
    """Follows the nodes' own words; says which of them has fallen silent."""

    def __init__(self, job_dir: str, nodes: Sequence[str], clock: Callable[[], float]) -> None:
        self._job_dir, self._nodes, self._clock = job_dir, nodes, clock
        self._seen = {node: (-1, clock()) for node in nodes}

    def lost(self) -> str:
        """The reason, or nothing while every node that has begun lives, or has told its end."""
        now = self._clock()
        for node, said in node_files.states(self._job_dir, self._nodes).items():
            beat, since = self._seen[node]
            if said.beat != beat or said.state in (ENDING, ENDED):
                self._seen[node] = (said.beat, now)
            elif now - since > PATIENCE_S:
                return f"node {node} has been silent for {now - since:.0f} s: the node is down, or hangs"
        return ""


@dataclass(frozen=True, slots=True)
class Cause:
    """What ended the run: the status of the first node that did, and a sentence about each."""

    status: int
    reason: str


def cause(job_dir: str, nodes: Sequence[str]) -> Cause | None:
    """None where no node says so. srun's own status is that of a node that it ended for the first one's sake.

    A trainer that ended well has ended well, however a worker took the end of its Ray.
    """
    if node_files.head_ended_well(job_dir):
        return Cause(0, "")
    said = node_files.states(job_dir, nodes)
    told = sorted((one for one in said.values() if _is_cause(one)), key=lambda one: one.at)
    silent = [f"node {node} {SILENT}" for node, one in said.items() if one.state not in (ENDING, ENDED)]
    never = [f"node {node} never started its part" for node in nodes if node not in said]
    if not (silent or never or told):
        return None
    reason = "; ".join([*silent, *never, *(f"node {one.node}: {one.reason}" for one in told)])
    return Cause(told[0].status if told and not silent and not never else 1, reason)


def _is_cause(one: NodeState) -> bool:
    return one.state in (ENDING, ENDED) and bool(one.reason) and not one.signal
