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
