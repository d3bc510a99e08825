"""Real training on a CPU: verl's trainer, vLLM, Ray, our agent in sandboxes that are directories, rewards from pytest."""

import json
import signal
from pathlib import Path

import pytest

from cpu_stack.run import METRICS, write_job
from lanes.training.lab import Run, allow, training
from skyrl_train.checkpoints.saved import examine
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.metrics import Counts
from skyrl_train.contracts.payloads import from_json

pytestmark = [pytest.mark.verl, pytest.mark.vllm]
ROLLOUTS = 8  # of a step: four prompts, two of each


def counts(job: Path) -> list[Counts]:
    path = job / "rollout_counts.jsonl"
    return [from_json(Counts, line) for line in path.read_text().splitlines()] if path.exists() else []


def steps(job: Path) -> list[dict[str, float]]:
    """What verl's file logger wrote, step by step."""
    return [json.loads(line)["data"] for line in (job / METRICS).read_text().splitlines()]


def root(job: Path) -> Path:
    return job.parent / "checkpoints" / "skyrl" / "run"


def saved(job: Path, step: int) -> Path:
    return root(job) / f"global_step_{step}"


def last(job: Path) -> int:
    return int((root(job) / "latest_checkpointed_iteration.txt").read_text())


def weights(job: Path, step: int) -> bytes:
    return (saved(job, step) / "actor" / "model_world_size_1_rank_0.pt").read_bytes()


def whole(job: Path, step: int) -> bool:
    found = saved(job, step)
    return found.is_dir() and examine(str(found)).complete and examine(str(found)).marked


def test_a_killed_run_goes_on_saves_when_time_runs_out_and_ends_when_every_rollout_fails(
    tmp_path: Path, model: Path
) -> None:
    job = tmp_path / "job"
    write_job(job, model, steps=9, advantage="gae")
    with training(job, "refused") as run:
        assert run.status() == 78
        assert "the gate has not passed" in run.log
    allow(job)

    with training(job, "killed") as run:
        killed_in_its_second_step(run, job)
    first, done = last(job), counts(job)
    learnt = weights(job, first)

    (job / "broken").write_text(str(ROLLOUTS))  # as many as open the breaker
    (job / "runtime_down").write_text("1")
    with training(job, "warned") as run:
        run.until(lambda: whole(job, first + 1), "another step")
        run.signal(signal.SIGUSR1)
        run.ends_with(75)
        assert f"training resumes from {saved(job, first)}" in run.log
        cause = "(error_initialization: RuntimeError: the sandbox's disk is full"
        assert f"TRN022: infrastructure failed 8 of the last 8 rollouts {cause}" in run.log
        assert "the sandbox runtime can be used again after" in run.log
    assert counts(job)[len(done)].rollouts == ROLLOUTS
    assert Finish.ERROR_INITIALIZATION not in counts(job)[len(done)].ends  # all were repeated
    survived = counts(job)[len(done)]
    assert (survived.outages, sum(one.outages for one in counts(job))) == (1, 1)
    assert survived.outage_s > 0
    assert steps(job)[0]["rollout_metrics/outages"] == 1
    assert counts(job)[-1].masked < ROLLOUTS
    second = last(job)
    assert [step["training/global_step"] for step in steps(job)] == list(range(first + 1, second + 1))
    assert all("critic/vf_loss" in step for step in steps(job))
    assert (saved(job, second) / "critic").is_dir()
    assert weights(job, second) != learnt
    assert sorted(root(job).glob("global_step_*")) == [saved(job, second - 1), saved(job, second)]  # two are kept

    (job / "no_image").touch()
    with training(job, "failing") as run:
        run.ends_with(1)
        assert "TRN001: 2 batches in a row without one usable rollout" in run.log
        assert "8 x error_runtime: KeyError: 'image' (loop.py:" in run.log
    assert last(job) == second


def killed_in_its_second_step(run: Run, job: Path) -> None:
    """By a SIGKILL of the process that a job starts, which can tell nobody."""
    run.until(lambda: whole(job, 1), "global_step_1")
    run.until(lambda: len(counts(job)) > 1, "the rollouts of step 2")
    run.signal(signal.SIGKILL)
    run.child.wait()
    run.until_gone()
    one, step = steps(job)[0], counts(job)[0]
    assert one["training/rollout_probs_diff_mean"] < 0.05
    assert one["training/rollout_actor_probs_pearson_corr"] > 0.99
    assert step.rollouts == ROLLOUTS
    assert step.turns > step.rollouts  # two turns in most
    assert 0 < step.reward < step.scored  # the tests passed for some, and not for others
