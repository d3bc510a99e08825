"""Asynchronous training on a CPU: late rollouts do not hold a step up, go on with the next weights, and survive a restart."""

import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cpu_stack.run import LATE, METRICS, TAKEN, write_job
from cpu_stack.tiny import PROMPTS
from lanes.training.lab import allow, training
from skyrl_train.agent import journal
from skyrl_train.checkpoints.saved import examine

pytestmark = [pytest.mark.verl, pytest.mark.vllm]
STEPS, MOST = 8, 4
"""The steps of the run, and those in which a rollout may take part (trainer.max_staleness)."""
LR = 1e-4
"""At 1e-3 the tiny model forgets after some steps how a rollout ends."""


def figures(job: Path) -> list[dict[str, float]]:
    path = job / METRICS
    return [json.loads(line)["data"] for line in path.read_text().splitlines()] if path.exists() else []


def root(job: Path) -> Path:
    return job.parent / "checkpoints" / "skyrl" / "run"


def whole(job: Path, step: int) -> bool:
    found = root(job) / f"global_step_{step}"
    return found.is_dir() and examine(str(found)).complete and examine(str(found)).marked


def taken(job: Path) -> list[dict[str, Any]]:
    """The prompts that each step of both lives took: their rows, and the prompts that were there with the step that asked."""
    path = job / TAKEN
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def no_prompt_is_lost_or_taken_twice(killed: list[dict[str, Any]], resumed: list[dict[str, Any]]) -> None:
    """Over the steps that count: those up to the checkpoint, and those after the restart."""
    kept = [*(one for one in killed if one["step"] < resumed[0]["step"]), *resumed]
    assert [one["step"] for one in kept] == list(range(1, STEPS + 1))
    rows = {prompt: row for one in kept for prompt, row in one["taken"].items()}
    assert len(rows) == sum(len(one["taken"]) for one in kept)  # none is taken twice
    asked: dict[str, int] = {}
    for one in kept:
        asked = {**one["asked"], **asked}
    assert {*asked} - {*rows} == {*kept[-1]["asked"]} - {*kept[-1]["taken"]}  # none is lost
    order = sorted(asked, key=lambda prompt: asked[prompt])
    for first in range(0, len(order), len(PROMPTS)):  # each epoch has each row once
        found = [rows[prompt] for prompt in order[first : first + len(PROMPTS)] if prompt in rows]
        assert len(found) == len({*found}), (first, found)


@pytest.mark.parametrize(("mode", "gpus"), [("colocate_async", 0), ("separate_async", 1)], ids=["colocate", "separate"])
def test_late_rollouts_go_on_over_steps_and_restarts(tmp_path: Path, model: Path, mode: str, gpus: int) -> None:
    job = tmp_path / "job"
    write_job(job, model, steps=STEPS, advantage="gae", mode=mode, rollout_gpus=gpus, lr=LR)
    (job / LATE).touch()
    allow(job)
    with training(job, "killed") as run:
        run.until(lambda: whole(job, 3), "global_step_3")
        run.signal(signal.SIGKILL)
        run.child.wait()
        run.until_gone()
    before, taken_before = len(figures(job)), len(taken(job))
    (job / LATE).unlink()
    with training(job, "resumed") as run:
        run.ends_with(0)
        assert "prompts in progress are taken from the checkpoint" in run.log
        assert run.log.count("weights of step") == run.log.count("syncing weights to the model servers")

    steps = [int(step["training/global_step"]) for step in figures(job)]
    assert steps[before:] == list(range(steps[before], STEPS + 1))
    no_prompt_is_lost_or_taken_twice(taken(job)[:taken_before], taken(job)[taken_before:])
    ages = [step["rollout_metrics/staleness_max"] for step in figures(job)]
    assert max(ages) >= 1  # a late rollout was trained on in a later step
    assert max(ages) < MOST
    assert all("rollout_corr/kl" in step and "critic/vf_loss" in step for step in figures(job)[before:])
    written = [transcript for path in (job / "rollouts").glob("step_*.jsonl") for transcript in journal.read(path)]
    replies = [step.reply for transcript in written for step in transcript.steps]
    assert all(reply.weights is not None for reply in replies)
    spans = Counter(
        transcript.steps[-1].reply.weights[1] - transcript.steps[0].reply.weights[0]  # type: ignore[index]
        for transcript in written
        if transcript.steps
    )
    assert sum(count for span, count in spans.items() if span > 0) > 0, spans  # turns of two steps in one rollout
