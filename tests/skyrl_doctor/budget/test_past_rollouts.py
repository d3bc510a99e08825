"""The lengths of a job's earlier rollouts."""

import json
from pathlib import Path

import pytest

from skyrl_doctor.budget import past_rollouts
from skyrl_doctor.budget.lengths import KnownLengths, known_lengths
from skyrl_doctor.budget.past_rollouts import PastLengths, job_directory_of, past_lengths
from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.facts.prompts import PromptLengths
from skyrl_train.memory import Lengths


def line(prompt: int, written: int, read: int = 0, *, finish: str = "finish_tool", reward: float | None = 1.0) -> str:
    step = {"call": {"name": "terminal"}, "reply": {"token_ids": [1] * written}, "shown_ids": [2] * read}
    stored = {"rollout_id": "r", "task_id": "t", "finish": finish, "prompt_ids": [3] * prompt, "steps": [step]}
    return json.dumps(stored | {"score": {"reward": reward}})


def write(job: Path, step: int, *lines: str) -> None:
    (job / "rollouts").mkdir(exist_ok=True)
    (job / "rollouts" / f"step_{step}.jsonl").write_text("".join(f"{each}\n" for each in lines))


def test_lengths_are_those_of_what_was_trained_on(tmp_path: Path) -> None:
    """The results of tools are part of a reply; a masked rollout, a foreign line and an unfinished one do not count."""
    write(tmp_path, 2, *(line(100, written, 10) for written in range(1, 101)))
    write(
        tmp_path, 10, line(300, 5000), line(1, 9999, reward=None), "no transcript", line(7, 7) + "\n" + line(8, 8)[:20]
    )
    assert past_lengths(str(tmp_path)) == PastLengths(Lengths(100, 100), Lengths(60, 110), 102, 2, 10)


def test_the_latest_steps_are_read_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in (9, 10, 11, 12):
        write(tmp_path, step, *[line(step, step)] * 4)
    monkeypatch.setattr(past_rollouts, "MOST_ROLLOUTS", 6)
    assert past_lengths(str(tmp_path)) == PastLengths(Lengths(12, 12), Lengths(12, 12), 6, 11, 12)
    monkeypatch.setattr(past_rollouts, "MOST_BYTES", 1)
    assert past_lengths(str(tmp_path)) == PastLengths(Lengths(12, 12), Lengths(12, 12), 1, 12, 12)
    monkeypatch.setattr(past_rollouts, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(past_rollouts, "MOST_ROLLOUTS", 512)
    monkeypatch.setattr(past_rollouts, "MOST_FILES", 3)
    assert past_lengths(str(tmp_path)) == PastLengths(Lengths(11, 12), Lengths(11, 12), 12, 10, 12)


def test_a_job_without_rollouts_has_no_lengths(tmp_path: Path) -> None:
    assert past_lengths(str(tmp_path)) is None
    write(tmp_path, 1, line(1, 1, reward=None))
    assert past_lengths(str(tmp_path)) is None
    with pytest.raises(UsageError, match=r"^rollouts of .*/none: No such file or directory$"):
        past_lengths(str(tmp_path / "none"))


def test_only_the_configuration_of_a_launch_has_rollouts_beside_it(tmp_path: Path) -> None:
    write(tmp_path, 1, line(1, 1))
    assert job_directory_of(f"{tmp_path}/config.toml") == str(tmp_path)
    assert job_directory_of(f"{tmp_path}/run.toml") is None
    assert job_directory_of(f"{tmp_path}/rollouts/config.toml") is None
    assert job_directory_of("python -m verl.trainer.main_ppo") is None


def test_figures_of_the_user_come_first_then_rollouts_then_the_data() -> None:
    sampled = PromptLengths(file="f", count=50, rows=100, p50=10, p95=20, longest=30)
    past = PastLengths(Lengths(1, 2), Lengths(3, 4), 512, 11, 20)
    found = [
        known_lengths(prompt, reply, sampled, past)
        for prompt in (None, Lengths(8, 9))
        for reply in (None, Lengths(6, 7))
    ]
    assert [one.summary for one in found if one is not None] == [
        "prompts 1 to 2 tokens, replies 3 to 4 tokens (from 512 rollouts of steps 11 to 20)",
        "prompts 1 to 2 tokens (from 512 rollouts of steps 11 to 20), replies 6 to 7 tokens",
        "prompts 8 to 9 tokens, replies 3 to 4 tokens (from 512 rollouts of steps 11 to 20)",
        "prompts 8 to 9 tokens, replies 6 to 7 tokens",
    ]
    assert PastLengths(Lengths(1, 2), Lengths(3, 4), 1, 7, 7).source == "from 1 rollout of step 7"
    assert known_lengths(None, None, sampled) == KnownLengths(Lengths(10, 30), None, "50 sampled")
