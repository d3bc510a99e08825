import json
import os
import stat
import sys
from pathlib import Path

import pytest

from skyrl_train.contracts.errors import UsageError
from skyrl_train.evaluation import weights
from skyrl_train.evaluation.weights import Compared, Scored, compared, scored_by, verdict

A, B = Compared("a", 0.004, (-1.0, -2.0)), Compared("b", 0.002, (-1.1, -2.0))
NEAR_B = Compared("c", 0.0021, (-1.1, -2.001))


@pytest.mark.parametrize(
    ("found", "runs", "sentence"),
    [
        ([A], True, "the server runs a, or weights a few steps from it: name other checkpoints to compare"),
        ([B, A], True, "the server runs b"),
        ([A, B], False, "the server runs b rather than a"),
        ([B, NEAR_B], True, "the server runs b or c: they differ less than two engines do"),
        ([NEAR_B, A, B], True, "the server runs c or b: they differ less than two engines do"),
        ([A, B, NEAR_B], False, "the server runs b or c: they differ less than two engines do"),
        (
            [Compared("a", 0.6)],
            False,
            "the server runs not a: the limit of two engines with the same weights is 0.15 nats",
        ),
        (
            [Compared("a", float("nan"))],
            False,
            "the server runs not a: the limit of two engines with the same weights is 0.15 nats",
        ),
        (
            [Compared("a", 0.6, (0.0,)), Compared("b", 0.5, (0.0,))],
            False,
            "the server runs none of them: the limit of two engines with the same weights is 0.15 nats",
        ),
    ],
)
def test_verdicts(found: list[Compared], runs: bool, sentence: str) -> None:
    assert verdict(found) == (runs, sentence)


def test_differences_are_means_in_the_order_of_the_models() -> None:
    models = [("far", Scored((1, 2, 3), (-1.0, -2.0))), ("near", Scored((1, 2, 3), (-1.5, -2.5)))]
    assert compared(models, [-1.5, -2.4]) == [
        Compared("far", pytest.approx(0.45), (-1.0, -2.0)),
        Compared("near", pytest.approx(0.05), (-1.5, -2.5)),
    ]


def stand_in(folder: Path, script: str) -> str:
    """A Python whose child says what the script prints."""
    path = folder / "python"
    path.write_text(f"#!{sys.executable}\n{script}", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_model_is_scored_by_another_python(tmp_path: Path) -> None:
    answer = json.dumps({"ids": [5, 6], "logprobs": [-0.5]})
    script = f"import sys\nassert 'median' in sys.argv[-1]\nprint('a note')\nprint({answer!r})\n"
    python = stand_in(tmp_path, script)
    assert scored_by("m", python=python, device="cpu", limit_s=60) == Scored((5, 6), (-0.5,))


def test_a_model_that_cannot_be_loaded_is_refused_with_the_reason(tmp_path: Path) -> None:
    python = stand_in(tmp_path, "import sys\nsys.exit('OSError: m has no config.json')\n")
    with pytest.raises(UsageError, match="scoring m failed: OSError: m has no config"):
        scored_by("m", python=python, device="cpu", limit_s=60)


def test_a_python_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pass --python with a Python that has torch and transformers"):
        scored_by("m", python=str(tmp_path / "none"), device="cpu", limit_s=60)


def test_a_model_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    python = stand_in(tmp_path, "import signal\nsignal.pause()\n")
    with pytest.raises(UsageError, match="scoring m timed out after 1 s; pass a larger --limit"):
        scored_by("m", python=python, device="cpu", limit_s=1)


def test_the_child_is_where_it_is_looked_for() -> None:
    assert os.path.isfile(weights.CHILD)
