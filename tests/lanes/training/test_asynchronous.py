"""Asynchronous training on a CPU: late rollouts do not hold a step up, go on with the next weights, and survive a restart."""

import json
import signal
from collections import Counter
from pathlib import Path

import pytest

from cpu_stack.run import LATE, METRICS, write_job
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
    before = len(figures(job))
    (job / LATE).unlink()
    with training(job, "resumed") as run:
        run.ends_with(0)
        assert "prompts in progress are taken from the checkpoint" in run.log
        assert run.log.count("weights of step") == run.log.count("syncing weights to the model servers")

    steps = [int(step["training/global_step"]) for step in figures(job)]
    assert steps[before:] == list(range(steps[before], STEPS + 1))
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
