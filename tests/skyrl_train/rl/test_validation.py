import json
from dataclasses import replace
from pathlib import Path

import pytest

from skyrl_train.contracts.agent.pass_rates import Outcome
from skyrl_train.contracts.job_files import VALIDATION
from skyrl_train.rl.validation import report

SOLVED, OPEN, LOST = (
    Outcome(task=task, repository=task, solved=solved) for task, solved in (("a", True), ("b", False), ("c", None))
)


def test_a_validation_is_a_line_of_the_log_and_of_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(str(tmp_path), 5, [SOLVED, OPEN, LOST], samples=1)
    assert capsys.readouterr().err == (
        "skyrl-train train: validation of step 5: pass@1 0.500 (0.095 to 0.905) of 3 tasks; "
        "infrastructure failed 1 rollout\n"
    )
    (line,) = (tmp_path / VALIDATION).read_text().splitlines()
    found = json.loads(line)
    assert (found["step"], found["pass"]["1"]["tasks"], sorted(found["repositories"])) == (5, 2, ["a", "b", "c"])


def test_several_rollouts_of_a_task_give_pass_at_k(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = [SOLVED, replace(SOLVED, solved=False), OPEN, OPEN]
    report(str(tmp_path), 5, outcomes, samples=2)
    assert capsys.readouterr().err == (
        "skyrl-train train: validation of step 5: pass@1 0.250 (0.027 to 0.802), pass@2 0.500 (0.095 to 0.905) of 2 tasks\n"
    )
    (line,) = (tmp_path / VALIDATION).read_text().splitlines()
    found = json.loads(line)
    assert (found["rollouts"], sorted(found["pass"]), sorted(found["repositories"]["a"]["pass"])) == (
        4,
        ["1", "2"],
        ["1", "2"],
    )


def test_a_line_that_cannot_be_written_ends_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(str(tmp_path / "none"), 5, [LOST], samples=1)
    first, second = capsys.readouterr().err.splitlines()
    assert first == "skyrl-train train: validation of step 5: no result of 1 task; infrastructure failed 1 rollout"
    assert second.startswith("skyrl-train train: the validation of step 5 could not be written: ")
