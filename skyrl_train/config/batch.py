"""How samples divide over devices (CFG002) and over trajectories (CFG003)."""

import math
from collections.abc import Iterator, Mapping

from skyrl_train.config.violation import Violation


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
