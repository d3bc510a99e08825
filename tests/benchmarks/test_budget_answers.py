"""The count of scripts that `budget` answers."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.budget_answers import NO_ESTIMATE, Answer, answer, cause, report

COMMAND = "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen3-0.6B data.train_batch_size=8"
ANSWERS = (
    Answer("fits.sh", 0),
    Answer("too-big.sh", 1),
    Answer("other.sh", 2, f"{NO_ESTIMATE}/models/a is 4; use '8'"),
    Answer("same.sh", 2, f"{NO_ESTIMATE}/models/b is 16; use '32'"),
    Answer("readme.sh", 2, "target readme.sh: no training run"),
    Answer("broken.sh", -1, "crash: ValueError: 3"),
    Answer("larger.sh", 1),
)


def test_the_table_counts_runs_and_sorts_refusals_by_cause() -> None:
    assert list(report(ANSWERS, verbose=False)) == [
        "7 files, 6 training runs, 3 answered (50%), of which 1 fit",
        "    2 no estimate: … is N; use …",
        "    1 crash: ValueError: N",
    ]


def test_each_file_is_listed_with_its_reason() -> None:
    assert list(report(ANSWERS[:3], verbose=True))[-3:] == [
        "fits.sh: fits",
        "too-big.sh: does not fit",
        f"other.sh: {NO_ESTIMATE}/models/a is 4; use '8'",
    ]


def test_nothing_to_count() -> None:
    assert list(report((), verbose=False)) == ["0 files, 0 training runs, 0 answered (0%), of which 0 fit"]


def test_a_cause_is_the_first_line_without_names_and_numbers() -> None:
    assert cause("'a b' is 12 of org/model\nmore") == "… is N of …"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """`answer` sets the folder and the environment of its process."""
    monkeypatch.chdir(tmp_path)
    before = dict(os.environ)
    yield tmp_path
    os.environ.clear()
    os.environ.update(before)


def test_the_answers_of_three_files(folder: Path) -> None:
    (folder / "run.sh").write_text(f"{COMMAND}\n")
    (folder / "large.sh").write_text(COMMAND.replace("Qwen3-0.6B", "Qwen3-235B-A22B") + "\n")
    (folder / "strange.sh").write_text(COMMAND.replace("Qwen/Qwen3-0.6B", "me/mine") + "\n")
    found = [answer("H100", folder, f"{name}.sh") for name in ("run", "large", "strange")]
    assert [(each.status, each.is_answered, each.is_run) for each in found] == [
        (0, True, True),
        (1, True, True),
        (2, False, True),
    ]
    assert found[2].refused.startswith(f"{NO_ESTIMATE}the model's shape is unknown: me/mine is not on this machine")
