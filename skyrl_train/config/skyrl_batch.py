"""What SkyRL's trainer asserts of its batch sizes before it starts."""

import math
from collections.abc import Callable, Iterator

from skyrl_train.contracts.violation import Violation

BATCH, MINI, MICRO = "data.train_batch_size", "actor.ppo_mini_batch_size", "actor.micro_batch_size_per_gpu"


NAMES = {BATCH: "train_batch_size", MINI: "policy_mini_batch_size", MICRO: "micro_train_batch_size_per_gpu"}
"""SkyRL's own names, below `trainer`."""
_MOST = 10**8
_NEAR = 1.3


def skyrl_batch_violations(*, batch: int, mini_batch: int, n: int, ranks: int, micro: int) -> Iterator[Violation]:
    """The mini batch divides the batch, and the part of one data-parallel rank divides into micro batches."""
    if mini_batch < 1 or batch % mini_batch:
        yield _not_a_multiple(batch, mini_batch, lambda mini: _divides(mini, n=n, ranks=ranks, micro=micro))
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


def _divides(mini_batch: int, *, n: int, ranks: int, micro: int) -> bool:
    """Whether the part of one rank divides into micro batches, as far as the sizes are known."""
    if ranks < 1:
        return True
    part, rest = divmod(mini_batch * n, ranks)
    return part > 0 and rest == 0 and (micro < 1 or part % micro == 0)


def _not_a_multiple(batch: int, mini_batch: int, fits: Callable[[int], bool]) -> Violation:
    """Proposes a size near the one that is set: if possible one that needs no other change, and rather a mini batch."""
    names = f"trainer.{NAMES[BATCH]} ({batch}) must be a multiple of trainer.{NAMES[MINI]} ({mini_batch})"
    if mini_batch < 1 or batch < 1:
        return Violation(key=BATCH, message=f"{names}, and both at least 1")
    below = batch // mini_batch * mini_batch
    sizes = [(MINI, mini, mini_batch, fits(mini)) for mini in _divisors(batch)]
    sizes += [(BATCH, size, batch, fits(mini_batch)) for size in (below, below + mini_batch) if size]

    def rank(one: tuple[str, int, int, bool]) -> tuple[bool, bool, bool, float]:
        key, size, old, has_fit = one
        factor = max(size, old) / min(size, old)
        return factor > _NEAR, not has_fit, key == BATCH, factor

    key, size, *_ = min(sizes, key=rank)
    return Violation(key=BATCH, message=f"{names}; set trainer.{NAMES[key]} = {size}", settings={key: str(size)})


def _divisors(size: int) -> Iterator[int]:
    """All divisors; none of a number that is no batch size."""
    if size > _MOST:
        return
    for low in range(1, math.isqrt(size) + 1):
        if size % low == 0:
            yield from (low, size // low)
