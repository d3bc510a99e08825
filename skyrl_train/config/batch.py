"""Whether samples divide over GPUs (CFG002), and whether rollout counts agree (CFG003)."""

import math
from collections.abc import Iterator, Mapping

from skyrl_train.contracts.violation import Violation

MINI_BATCH = "actor.ppo_mini_batch_size"
MICRO_BATCHES = (
    "actor.micro_batch_size_per_gpu",
    "rollout.log_prob_micro_batch_size_per_gpu",
    "critic.micro_batch_size_per_gpu",
)
"""The last one counts only if a critic is trained."""
MOST_PROMPTS = 1 << 32
"""Divisors of a larger batch than this are not all searched."""


def next_divisible(samples: int, parts: int, step: int) -> int:
    """The smallest multiple of `step` that is at least `samples` and divisible by `parts`."""
    unit = math.lcm(step, parts)
    return -(-samples // unit) * unit


def fitted_batch(*, batch: int, n: int, devices: int) -> int:
    """The batch that `batch_violations` suggests; the batch itself where it divides."""
    return batch if devices < 1 or batch * n < 1 else next_divisible(batch * n, devices, n) // n


def batch_violations(*, batch: int, n: int, devices: int, over: str = "") -> Iterator[Violation]:  # FIX(CFG002)
    """A batch whose samples do not divide over the GPUs: each takes the same number in an update.

    `over` names the parts in the message, where they are not single GPUs.
    """
    samples = batch * n
    if devices < 1 or samples < 1 or samples % devices == 0:
        return
    yield Violation(
        key="data.train_batch_size",
        message=f"{samples} samples ({batch} prompts x {n} rollouts) do not divide over {over or _gpus(devices)}",
        settings={"data.train_batch_size": str(fitted_batch(batch=batch, n=n, devices=devices))},
    )


def mini_batch_violations(
    *, batch: int, mini_batch: int, n: int = 1, ranks: int = 1, fitted: int | None = None, taken_by: str = ""
) -> Iterator[Violation]:
    """A mini batch that is larger than the train batch, or does not divide over the GPUs.

    `fitted`: the train batch that another violation suggests. No setting is suggested where that alone is enough.
    verl checks the division only after the first rollouts. It also ensures that no mini batch is all padding when rollouts
    are left out, since a step is padded by less than one mini batch. `taken_by`: the trainer's source, if it has no code that
    compares the two sizes.
    """
    settings = _fitting_mini_batch(batch=fitted or batch, mini_batch=mini_batch, n=n, ranks=ranks)
    if ranks > 0 and n > 0 and mini_batch * n % ranks:
        yield Violation(
            key=MINI_BATCH,
            message=f"a mini batch of {mini_batch * n} samples ({mini_batch} prompts x {n} rollouts) does not divide over {_gpus(ranks)}",
            settings=settings,
        )
    if mini_batch <= batch:
        return
    message = f"a mini batch of {mini_batch} prompts is larger than the train batch of {batch}"
    if taken_by:
        message = f"{message}; verl refuses that, but {taken_by} here does not compare them"
        yield Violation(key=MINI_BATCH, message=message, fatal=False)
        return
    yield Violation(key=MINI_BATCH, message=message, settings=settings)


def remainder_violations(*, batch: int, mini_batch: int, n: int, ranks: int) -> Iterator[Violation]:
    """A mini batch that does not divide the train batch, where verl splits each GPU's rows into equal mini batches.

    Only if both divide over the GPUs: the other violations name the rest.
    """
    if ranks < 1 or n < 1 or not 0 < mini_batch < batch or (batch * n) % ranks or (mini_batch * n) % ranks:
        return
    if batch % mini_batch:
        yield Violation(
            key=MINI_BATCH,
            message=f"mini batches of {mini_batch} prompts do not divide the train batch of {batch}: verl stops at the first update",
            settings=_fitting_mini_batch(batch=batch, mini_batch=mini_batch, n=n, ranks=ranks),
        )


def _fitting_mini_batch(*, batch: int, mini_batch: int, n: int, ranks: int) -> dict[str, str]:
    """The nearest mini batch that divides over the GPUs and divides the train batch; without one, the next that divides
    over the GPUs, at most the train batch. Releases that take a remainder fill it up with padding.
    """
    unit = ranks // math.gcd(n, ranks) if ranks > 0 and n > 0 else 1
    whole = [size for size in _divisors(batch) if size % unit == 0]
    if whole and mini_batch > 0:
        size = min(whole, key=lambda size: abs(math.log(size / mini_batch)))
    else:
        size = min(-(-mini_batch // unit) * unit, batch // unit * unit)
    return {MINI_BATCH: str(size)} if 0 < size != mini_batch else {}


def _divisors(number: int) -> set[int]:
    small = [size for size in range(1, math.isqrt(min(number, MOST_PROMPTS)) + 1) if number % size == 0]
    return {*small, *(number // size for size in small)}


def micro_batch_violations(*, mini_batch: int, n: int, ranks: int, micro: Mapping[str, int]) -> Iterator[Violation]:
    """Micro batches that do not divide the rows of a GPU.

    verl splits the rows of a rank into micro batches of equal size and fails on a remainder: in an update after the first
    rollouts, and in a step with lost rollouts, which is padded to whole mini batches only.
    """
    rows = mini_batch * n // ranks if ranks > 0 else 0
    for key, size in micro.items():
        if rows > 0 and size > 0 and rows % size:
            yield Violation(
                key=key,
                message=f"micro batches of {size} sequences do not divide the {rows} sequences of a mini batch on each GPU "
                f"({mini_batch} prompts x {n} rollouts over {_gpus(ranks)})",
                settings={key: str(math.gcd(rows, size))},
            )


def group_violations(*, batch: int, group: int) -> Iterator[Violation]:
    """A batch of prime-rl that does not hold whole groups: prime-rl counts a batch in rollouts."""
    if group < 1 or batch < 1 or batch % group == 0:
        return
    yield Violation(
        key="data.train_batch_rollouts",
        message=f"a batch of {batch} rollouts does not hold whole groups of {group}; use a multiple of {group}",
        settings={"data.train_batch_rollouts": str(next_divisible(batch, group, 1))},
    )


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"


def counts_disagree(counts: Mapping[str, int]) -> bool:  # FIX(CFG003)
    """Whether the settings for the number of rollouts of a prompt differ."""
    return len(set(counts.values())) > 1
