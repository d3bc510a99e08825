"""How samples divide over devices (CFG002) and over trajectories (CFG003)."""

import math
from collections.abc import Iterator, Mapping

from skyrl_train.contracts.violation import Violation

MICRO_BATCHES = (
    "actor.micro_batch_size_per_gpu",
    "rollout.log_prob_micro_batch_size_per_gpu",
    "critic.micro_batch_size_per_gpu",
)
"""The last of them only where a critic is trained."""


def next_divisible(samples: int, parts: int, step: int) -> int:
    """The least multiple of `step`, not below `samples`, that `parts` divides."""
    unit = math.lcm(step, parts)
    return -(-samples // unit) * unit


def batch_violations(*, batch: int, n: int, devices: int) -> Iterator[Violation]:  # FIX(CFG002)
    """Each device takes the same number of samples in an update."""
    samples = batch * n
    if devices < 1 or samples < 1 or samples % devices == 0:
        return
    yield Violation(
        key="data.train_batch_size",
        message=f"{samples} samples ({batch} prompts x {n} trajectories) do not divide over {devices} GPUs",
        settings={"data.train_batch_size": str(next_divisible(samples, devices, n) // n)},
    )


def mini_batch_violations(*, batch: int, mini_batch: int, n: int = 1, ranks: int = 1) -> Iterator[Violation]:
    """An update takes its mini batch out of the train batch, and gives each rank an equal part of it.

    verl asks for the latter after the first rollouts. It is also why no mini batch is all padding, however many rollouts
    are left out: the padding of a step is less than one mini batch.
    """
    if ranks > 0 and n > 0 and mini_batch * n % ranks:
        yield Violation(
            key="actor.ppo_mini_batch_size",
            message=f"a mini batch of {mini_batch * n} samples ({mini_batch} prompts x {n} trajectories) does not divide over {ranks} GPUs",
            settings={"actor.ppo_mini_batch_size": str(next_divisible(mini_batch * n, ranks, n) // n)},
        )
    if mini_batch <= batch:
        return
    yield Violation(
        key="actor.ppo_mini_batch_size",
        message=f"a mini batch of {mini_batch} prompts is larger than the train batch of {batch}; wanted at most {batch}",
        settings={"actor.ppo_mini_batch_size": str(batch)},
    )


def micro_batch_violations(*, mini_batch: int, n: int, ranks: int, micro: Mapping[str, int]) -> Iterator[Violation]:
    """verl cuts the rows of a rank into micro batches of one size, and dies of a rest: of an update's rows after the first
    rollouts, of all rows of a step when rollouts were lost. For those are filled up to whole mini batches, and no further."""
    rows = mini_batch * n // ranks if ranks > 0 else 0
    for key, size in micro.items():
        if rows > 0 and size > 0 and rows % size:
            yield Violation(
                key=key,
                message=f"micro batches of {size} sequences do not divide the {rows} that a mini batch gives each GPU "
                f"({mini_batch} prompts x {n} trajectories over {ranks} GPUs)",
                settings={key: str(math.gcd(rows, size))},
            )


def group_violations(*, batch: int, group: int) -> Iterator[Violation]:
    """prime-rl counts a batch in rollouts: it must hold whole groups."""
    if group < 1 or batch < 1 or batch % group == 0:
        return
    yield Violation(
        key="data.train_batch_rollouts",
        message=f"a batch of {batch} rollouts does not hold whole groups of {group}; wanted a multiple of {group}",
        settings={"data.train_batch_rollouts": str(next_divisible(batch, group, 1))},
    )


def counts_disagree(counts: Mapping[str, int]) -> bool:  # FIX(CFG003)
    """Whether the places that say how many trajectories a prompt gets say different numbers."""
    return len(set(counts.values())) > 1
