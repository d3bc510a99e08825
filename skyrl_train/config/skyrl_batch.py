"""What SkyRL's trainer asserts of its batch sizes before it starts."""

from collections.abc import Iterator

from skyrl_train.contracts.violation import Violation

BATCH, MINI, MICRO = "data.train_batch_size", "actor.ppo_mini_batch_size", "actor.micro_batch_size_per_gpu"


def skyrl_batch_violations(*, batch: int, mini_batch: int, n: int, ranks: int, micro: int) -> Iterator[Violation]:
    """The mini batch divides the batch, and the part of one data-parallel rank divides into micro batches."""
    if mini_batch < 1 or batch % mini_batch:
        yield Violation(
            key=BATCH, message=f"a batch of {batch} prompts does not divide into mini batches of {mini_batch}"
        )
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
            message=f"{part} samples of a mini batch on each of {ranks} ranks do not divide by the micro batch {micro}",
        )
