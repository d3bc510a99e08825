"""A setting as text to paste."""

import pytest

from skyrl_train.contracts.assignment import assignment


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("rollout.n", "4", "rollout.n = 4"),
        ("#SBATCH --gres", "gpu:a100:8", "#SBATCH --gres=gpu:a100:8"),
        ("#SBATCH -N", "2", "#SBATCH -N 2"),
    ],
)
def test_an_option_of_sbatch_is_its_line(name: str, value: str, expected: str) -> None:
    assert assignment(name, value) == expected
