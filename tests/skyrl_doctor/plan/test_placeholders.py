"""Paths that are still those of an example."""

import pytest

from plans import plan
from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.model import Problem
from skyrl_doctor.plan.placeholders import is_placeholder, placeholders


@pytest.mark.parametrize(
    "path",
    [
        "/YOUR_MODELPATH",
        "/YOUR_TRAIN_FILE_PATH",
        "YOUR_MODEL",
        "/data/your-data/train.parquet",
        "<your-model>",
        "/path/to/train.parquet",
        "path/to/model",
        "TO_BE_FILLED",
        "/home/me/CHANGE_ME/x",
    ],
)
def test_an_example_has_a_placeholder(path: str) -> None:
    assert is_placeholder(path)


@pytest.mark.parametrize(
    "path", ["/data/train.parquet", "Qwen/Qwen3-8B", "/home/yours/x", "/data/YOURS.md5", "/mypath/to.x"]
)
def test_a_real_path_has_none(path: str) -> None:
    assert not is_placeholder(path)


def test_a_placeholder_is_a_warning_at_its_line() -> None:
    made = plan("[model]\npath = '/m'\n[data]\ntrain_files = ['/a', '/path/to/t.parquet']\n")
    expected = Problem(
        message="data.train_files = /path/to/t.parquet is a placeholder; expected a path of your own",
        location=Location("run.toml", 4, "data.train_files"),
        fatal=False,
        remedy="replace the placeholder of data.train_files",
    )
    assert list(placeholders(made.values)) == [expected]
    assert made.problems == (expected,)
