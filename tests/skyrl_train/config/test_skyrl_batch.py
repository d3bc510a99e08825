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


def test_says_which_value_divides() -> None:
    (batch,) = skyrl_batch_violations(batch=1000, mini_batch=256, n=5, ranks=4, micro=1)
    assert (batch.message, batch.settings) == (
        "trainer.train_batch_size (1000) must be a multiple of trainer.policy_mini_batch_size (256); use 1024",
        {"data.train_batch_size": "1024"},
    )
    (micro,) = skyrl_batch_violations(batch=8, mini_batch=8, n=4, ranks=4, micro=3)
    assert micro.settings == {"actor.micro_batch_size_per_gpu": "1"}
