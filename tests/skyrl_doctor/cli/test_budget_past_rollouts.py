"""`budget` of a job directory: the lengths of its rollouts."""

import json
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch

CONFIG = Path(__file__).parents[3] / "examples" / "mig20.toml"


def budget(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    dispatch(["budget", *words, "--gpu", "H100", "--model", "Qwen2.5-Coder-0.5B"])
    said = capsys.readouterr()
    return " ".join(said.out.split()), said.err


@pytest.fixture
def job(tmp_path: Path) -> str:
    step = {"call": {"name": "terminal"}, "reply": {"token_ids": [1] * 50}, "shown_ids": [2] * 25}
    stored = {"rollout_id": "r", "task_id": "t", "finish": "finish_tool", "prompt_ids": [3] * 40, "steps": [step]}
    folder = tmp_path / "20261127_launch"
    (folder / "rollouts").mkdir(parents=True)
    for number in (3, 4):
        (folder / "rollouts" / f"step_{number}.jsonl").write_text(f"{json.dumps(stored)}\n" * 4)
    (folder / "config.toml").write_text(CONFIG.read_text())
    return str(folder)


def test_a_job_directory_gives_configuration_and_lengths(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = "lengths: prompts 40 to 40 tokens, replies 75 to 75 tokens (from 8 rollouts of steps 3 to 4)"
    whole = budget(capsys, job)
    assert (expected in whole[0], whole[1]) == (True, "")
    assert budget(capsys, f"{job}/config.toml") == whole
    assert expected in budget(capsys, str(CONFIG), "--job", job)[0]
    assert "replies 9 to 10 tokens" in budget(capsys, job, "--reply-tokens", "9,10")[0]
    assert "lengths:" not in budget(capsys, str(CONFIG))[0]


def test_a_named_job_without_rollouts_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert budget(capsys, str(CONFIG), "--job", str(tmp_path)) == (
        "",
        f"skyrl-doctor budget: --job {tmp_path}: no rollouts that were trained on; expected a job directory with rollouts/step_N.jsonl\n",
    )
