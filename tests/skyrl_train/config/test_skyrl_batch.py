"""SkyRL's own assertions about batch sizes."""

import pytest

from skyrl_train.config.skyrl_batch import skyrl_batch_violations


@pytest.mark.parametrize(
    ("batch", "mini", "n", "ranks", "micro", "keys"),
    [
        (1024, 256, 5, 4, 64, []),
        (16, 4, 5, 8, 2, []),
        (10, 4, 5, 2, 1, ["data.train_batch_size"]),
        (4, 8, 5, 2, 1, ["data.train_batch_size"]),
        (8, 1, 2, 8, 1, ["actor.ppo_mini_batch_size"]),
        (8, 8, 4, 4, 3, ["actor.micro_batch_size_per_gpu"]),
        (8, 8, 4, 0, 3, []),
    ],
)
def test_names_the_setting(batch: int, mini: int, n: int, ranks: int, micro: int, keys: list[str]) -> None:
    found = skyrl_batch_violations(batch=batch, mini_batch=mini, n=n, ranks=ranks, micro=micro)
    assert [violation.key for violation in found] == keys


BATCH, MINI = ("data.train_batch_size", "train_batch_size"), ("actor.ppo_mini_batch_size", "policy_mini_batch_size")


@pytest.mark.parametrize(
    ("batch", "mini", "n", "ranks", "micro", "name", "size"),
    [
        (1024, 250, 1, 4, 64, MINI, 256),  # 1250 prompts would need micro batches of 2
        (1000, 256, 5, 4, 1, MINI, 200),  # 250 prompts of 5 do not divide over 4 ranks
        (1000, 256, 4, 4, 1, MINI, 250),
        (1000, 256, 1, 4, 64, BATCH, 1024),  # 250 would need micro batches of 2
        (10, 4, 5, 2, 1, BATCH, 12),
        (509, 4, 5, 2, 1, BATCH, 508),
        (1025, 256, 1, 8, 1, BATCH, 1024),  # 205 does not divide over 8 ranks
        (4, 8, 5, 2, 1, MINI, 4),
        (1024, 250, 1, 0, 64, MINI, 256),
        (10**18 + 1, 10**18, 1, 1, 1, BATCH, 10**18),
    ],
)
def test_proposes_the_size_that_changes_least(
    batch: int, mini: int, n: int, ranks: int, micro: int, name: tuple[str, str], size: int
) -> None:
    (found,) = skyrl_batch_violations(batch=batch, mini_batch=mini, n=n, ranks=ranks, micro=micro)
    assert (found.message, found.settings) == (
        f"trainer.train_batch_size ({batch}) must be a multiple of trainer.policy_mini_batch_size ({mini}); set trainer.{name[1]} = {size}",
        {name[0]: str(size)},
    )


def test_says_which_value_divides() -> None:
    (micro,) = skyrl_batch_violations(batch=8, mini_batch=8, n=4, ranks=4, micro=3)
    assert micro.settings == {"actor.micro_batch_size_per_gpu": "1"}
