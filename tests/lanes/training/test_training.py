"""Real training on a CPU: verl's trainer, vLLM, Ray, our agent in sandboxes that are directories, rewards from pytest."""

import json
import signal
from pathlib import Path

import pytest

from cpu_stack.run import write_job
from lanes.training.lab import allow, training
from skyrl_train.agent.finish import Finish
from skyrl_train.agent.metrics import Counts
from skyrl_train.checkpoints.saved import look
from skyrl_train.payloads import from_json

pytestmark = [pytest.mark.verl, pytest.mark.vllm]


def counts(job: Path) -> list[Counts]:
    path = job / "rollout_counts.jsonl"
    return [from_json(Counts, line) for line in path.read_text().splitlines()] if path.exists() else []


def steps(job: Path) -> list[dict[str, float]]:
    """What verl's file logger wrote, step by step."""
    return [json.loads(line)["data"] for line in (job / "metrics.jsonl").read_text().splitlines()]


def saved(job: Path, step: int) -> Path:
    return job.parent / "checkpoints" / "skyrl" / "run" / f"global_step_{step}"


def weights(job: Path, step: int) -> bytes:
    return (saved(job, step) / "actor" / "model_world_size_1_rank_0.pt").read_bytes()


def whole(job: Path, step: int) -> bool:
    found = saved(job, step)
    return found.is_dir() and look(str(found)).complete and look(str(found)).marked


def test_two_steps_then_a_kill_then_a_step_without_rollouts_then_the_third(tmp_path: Path, model: Path) -> None:
    job = tmp_path / "job"
    write_job(job, model, steps=3)
    with training(job, "refused") as run:
        assert run.status() == 78
        assert "the gate has not passed" in run.log
    allow(job)

    with training(job, "killed") as run:
        run.until(lambda: whole(job, 2), "global_step_2")
        run.signal(signal.SIGKILL)
        run.child.wait()
        run.path.with_suffix(".metrics").write_bytes((job / "metrics.jsonl").read_bytes())
        run.until_gone()
    first = [json.loads(line)["data"] for line in (job / "killed.metrics").read_text().splitlines()]
    assert first[0]["training/rollout_probs_diff_mean"] < 0.05
    assert first[0]["training/rollout_actor_probs_pearson_corr"] > 0.99
    assert weights(job, 1) != weights(job, 2)
    done = counts(job)
    assert sum(step.rollouts for step in done[:2]) == 16
    assert done[0].turns > done[0].rollouts  # two turns in most
    assert 0 < done[0].reward < done[0].scored  # the tests passed for some, and not for others

    (job / "broken").write_text("8")  # all sandboxes of one step
    with training(job, "resumed") as run:
        assert run.status() == 0
        assert f"training goes on from {saved(job, 2)}" in run.log
        assert "step 3 has no usable rollout, new prompts are drawn: 8 x error_initialization" in run.log
        assert run.left() == []
    assert counts(job)[len(done)].ends == {Finish.ERROR_INITIALIZATION: 8}
    assert counts(job)[-1].masked < 8
    assert whole(job, 3)
    assert not saved(job, 1).exists()  # two are kept
    assert [step["training/global_step"] for step in steps(job)] == [3]


def test_ppo_with_a_critic_saves_when_time_runs_out_and_ends_when_every_rollout_fails(
    tmp_path: Path, model: Path
) -> None:
    job = tmp_path / "job"
    write_job(job, model, steps=9, advantage="gae")
    allow(job)
    with training(job, "warned") as run:
        run.until(lambda: whole(job, 1), "global_step_1")
        run.signal(signal.SIGUSR1)
        assert run.status() == 75
        assert run.left() == []
    last = int((saved(job, 0).parent / "latest_checkpointed_iteration.txt").read_text())
    assert (saved(job, last) / "critic").is_dir()
    assert all("critic/vf_loss" in step for step in steps(job)[:last])

    (job / "broken").write_text("1000")
    with training(job, "failing") as run:
        assert run.status() == 1
        assert "TRN001: 2 batches in a row without one usable rollout" in run.log
        assert "8 x error_initialization: RuntimeError: the sandbox's disk is full" in run.log
        assert run.left() == []
    assert not saved(job, last + 1).exists()
