"""What SkyRL's trainer asserts of its batch sizes before it starts."""

import math
from collections.abc import Iterator

from skyrl_train.contracts.violation import Violation

BATCH, MINI, MICRO = "data.train_batch_size", "actor.ppo_mini_batch_size", "actor.micro_batch_size_per_gpu"


NAMES = {BATCH: "train_batch_size", MINI: "policy_mini_batch_size", MICRO: "micro_train_batch_size_per_gpu"}
"""SkyRL's own names, below `trainer`."""


def skyrl_batch_violations(*, batch: int, mini_batch: int, n: int, ranks: int, micro: int) -> Iterator[Violation]:
    """The mini batch divides the batch, and the part of one data-parallel rank divides into micro batches."""
    if mini_batch < 1 or batch % mini_batch:
        yield _not_a_multiple(batch, mini_batch)
        return
    if ranks < 1:
        return
    part = mini_batch * n // ranks
    if part == 0:
        samples = f"{mini_batch} prompts x {n} rollouts"
        yield Violation(
            key=MINI, message=f"a mini batch of {mini_batch * n} samples ({samples}) has none for each of {ranks} ranks"
        )
    elif micro > 0 and part % micro:
        yield Violation(
            key=MICRO,
            message=f"trainer.{NAMES[MICRO]} ({micro}) must divide the {part} samples of a mini batch on each of {ranks} ranks; use {math.gcd(part, micro)}",
            settings={MICRO: str(math.gcd(part, micro))},
        )


def _not_a_multiple(batch: int, mini_batch: int) -> Violation:
    names = f"trainer.{NAMES[BATCH]} ({batch}) must be a multiple of trainer.{NAMES[MINI]} ({mini_batch})"
    if mini_batch < 1 or batch < 1:
        return Violation(key=BATCH, message=f"{names}, and both at least 1")
    size = -(-batch // mini_batch) * mini_batch
    return Violation(key=BATCH, message=f"{names}; use {size}", settings={BATCH: str(size)})
