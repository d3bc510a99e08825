import json
from pathlib import Path

import pytest

from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.errors import UsageError
from skyrl_train.evaluation.kept import ROLLOUTS, SUBJECT, Kept

SUBJECT_OF_ALL = {"model": "/m", "samples": 2, "limits": {"turns": 3}}


def transcript(name: str, finish: Finish = Finish.FINISH_TOOL) -> Transcript:
    return Transcript(task_id="t", rollout_id=name, prompt=(), prompt_ids=(), steps=(), finish=finish)


def test_rollouts_are_there_again_and_the_last_one_counts(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "new" / "out", SUBJECT_OF_ALL)
    kept.add(transcript("0-0", Finish.ERROR_RUNTIME))
    kept.add(transcript("0-0"))
    again = Kept(tmp_path / "new" / "out", SUBJECT_OF_ALL)
    assert again.done == kept.done == {"0-0": transcript("0-0")}


def test_a_line_that_a_kill_cut_costs_only_itself(tmp_path: Path) -> None:
    kept = Kept(tmp_path, SUBJECT_OF_ALL)
    kept.add(transcript("0-0"))
    whole = (tmp_path / ROLLOUTS).read_bytes()
    (tmp_path / ROLLOUTS).write_bytes(whole + whole[: len(whole) // 2])
    again = Kept(tmp_path, SUBJECT_OF_ALL)
    again.add(transcript("0-1"))
    last = Kept(tmp_path, SUBJECT_OF_ALL)
    assert (sorted(last.done), last.unreadable) == (["0-0", "0-1"], 1)


@pytest.mark.parametrize(
    ("change", "why"),
    [({"samples": 3}, r"with another samples \(2, now 3\)"), ({"seed": 1}, r"with another seed \(null, now 1\)")],
)
def test_an_evaluation_of_something_else_is_refused(tmp_path: Path, change: dict[str, int], why: str) -> None:
    Kept(tmp_path, SUBJECT_OF_ALL)
    with pytest.raises(UsageError, match=why):
        Kept(tmp_path, {**SUBJECT_OF_ALL, **change})


def test_a_damaged_description_is_refused(tmp_path: Path) -> None:
    (tmp_path / SUBJECT).write_text("{")
    with pytest.raises(UsageError, match=r"cannot be read: .* name a new directory with --out"):
        Kept(tmp_path, SUBJECT_OF_ALL)


def test_the_report_is_json(tmp_path: Path) -> None:
    path = Kept(tmp_path, SUBJECT_OF_ALL).write_report({"tasks": 1})
    assert json.loads(path.read_text()) == {"tasks": 1}
