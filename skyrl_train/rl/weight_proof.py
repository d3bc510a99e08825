"""Judges whether the model servers run the trainer's weights, from the log-probabilities of a fixed text. Pure.

Two questions. Are the figures of server and trainer as near as two engines with the same weights are? And did the server's
figures change when the trainer's did? One step of training moves them less than the two engines differ, so that a sync
which did not happen is only seen by the second question: the same weights give a server exactly the same figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.weight_limits import LEAST, LIMIT

TEXT = """\
def median(values):
    \"\"\"The middle of the sorted values.\"\"\"
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2

The test failed because an empty list has no middle. The fix is to raise ValueError, and to say so in the documentation.
"""
MOST_TOKENS = 128
GROWTH = 5.0
"""A difference may also be so many times the middle of the earlier syncs, or LEAST."""
MOVED = 1e-3
"""So much must one of the trainer's figures have moved before the server's figures must move too."""
KEPT = 16
"""Earlier syncs whose figures are remembered."""

LogProbs = Sequence[float]


class WeightsError(TrainError):
    """A model server does not run the trainer's weights."""


class Seen(NamedTuple):
    """One sync of one server."""

    step: int
    trainer: tuple[float, ...]
    server: tuple[float, ...]
    difference: float


@dataclass(slots=True)
class Proof:
    """The syncs of one server."""

    server: int
    syncs: list[Seen] = field(default_factory=list)

    def judge(self, step: int, trainer: LogProbs, server: LogProbs) -> float:
        """The mean difference. WeightsError if these cannot be the trainer's weights."""
        difference = mean_difference(trainer, server)
        now = Seen(step, tuple(trainer), tuple(server), difference)
        if fault := self._fault(now):
            raise WeightsError(f"TRN021: model server {self.server} {fault}")
        self.syncs = [*self.syncs, now][-KEPT:]
        return difference

    def _fault(self, now: Seen) -> str | None:
        if not now.difference <= self._limit():  # also NaN
            return (
                f"does not run the trainer's weights after the sync of step {now.step}: the log-probabilities of a fixed "
                f"text differ by {now.difference:.3f} nats on average, where {self._limit():.3f} is the limit. The weights "
                "arrived in part, or those of another model or adapter did"
            )
        same = [seen for seen in self.syncs if seen.server == now.server]
        if not same or not moved(same[-1], now):
            return None
        older = same[-1].step
        if same[-1] is self.syncs[-1]:
            return (
                f"still runs the weights of step {older} after the sync of step {now.step}: its log-probabilities of a fixed "
                "text are exactly those of before, and the trainer's changed. The sync did not happen, or its adapter is empty"
            )
        return f"runs the weights of step {older} again after the sync of step {now.step}"

    def _limit(self) -> float:
        if not self.syncs:
            return LIMIT
        differences = sorted(seen.difference for seen in self.syncs)
        return min(LIMIT, max(LEAST, GROWTH * differences[len(differences) // 2]))


def moved(before: Seen, now: Seen) -> bool:
    """Whether the trainer's weights are others than they were."""
    return max((abs(a - b) for a, b in zip(before.trainer, now.trainer, strict=True)), default=0.0) > MOVED


def mean_difference(one: LogProbs, other: LogProbs) -> float:
    if not one or len(one) != len(other):
        raise WeightsError(
            f"TRN021: the probe has {len(one)} log-probabilities of the trainer and {len(other)} of the server"
        )
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / len(one)
