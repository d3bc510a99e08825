"""A LoRA adapter, trained by verl under FSDP2 and sampled by vLLM: each sync brings the new one (TRN007). The same run is
validated before its first step and after its second, and two processes run its rollouts: nothing of that is in the others."""

import json
from pathlib import Path

import pytest

from cpu_stack.run import write_job
from cpu_stack.tiny import PROMPTS
from lanes.training.lab import allow, training
from lanes.training.test_training import steps, weights, whole
from skyrl_train.agent import journal
from skyrl_train.config.load import parse, resolved
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.job_files import VALIDATION
from skyrl_train.launch import directory

pytestmark = [pytest.mark.verl, pytest.mark.vllm]
MORE = {
    "[data]\n": 'lora_rank = 8\n[data]\nval_files = ["{tasks}"]\n',
    "[rollout]\n": "[rollout]\nagent_workers = 2\n",
    "[trainer]\n": "[trainer]\nvalidate_first = true\nvalidate_every_steps = 2\nvalidate_samples = 2\n",
}
LAST = 3
VALIDATED = "val-core/r2e-gym/acc/mean@2"


def told(job: Path, step: int) -> dict[tuple[str, int], float]:
    """How likely vLLM found the first token that it wrote, by the task and the token. Validation comes last, of all tasks."""
    found = [one for one in journal.read(job / "rollouts" / f"step_{step}.jsonl") if isinstance(one, Transcript)]
    replies = [(one.task_id, one.steps[0].reply) for one in found if one.steps]
    return {(task, reply.token_ids[0]): reply.logprobs[0] for task, reply in replies if reply.logprobs}


def apart(job: Path, one: int, other: int) -> list[float]:
    """For the same word of the same task, in two steps."""
    first, second = told(job, one), told(job, other)
    return [abs(first[key] - second[key]) for key in first.keys() & second.keys()]


def test_the_adapter_reaches_what_is_sampled(tmp_path: Path, model: Path) -> None:
    job = tmp_path / "job"
    write_job(job, model, steps=LAST, lr=1e-2)
    text = (job / directory.CONFIG).read_text(encoding="utf-8")
    for old, new in MORE.items():
        assert text.count(old) == 1
        text = text.replace(old, new.format(tasks=job / "tasks.jsonl"))
    (job / directory.CONFIG).write_text(text, encoding="utf-8")
    (job / directory.RESOLVED).write_text(resolved(parse(text)), encoding="utf-8")
    allow(job)
    with training(job, "lora") as run:
        assert run.status() == 0, run.log[-6000:]
        assert run.left() == []

    first, *done = steps(job)
    assert [VALIDATED in step for step in (first, *done)] == [True, False, True, True]  # the last step always is
    validations = [json.loads(line) for line in (job / VALIDATION).read_text().splitlines()]
    assert [(one["step"], one["rollouts"], sorted(one["pass"])) for one in validations] == [
        (step, 2 * len(PROMPTS), ["1", "2"]) for step in (0, 2, LAST)
    ]
    assert "actor/grad_norm" not in first
    assert len(done) == LAST
    assert all(step["training/rollout_actor_probs_pearson_corr"] > 0.99 for step in done)
    assert all(step["training/rollout_probs_diff_mean"] < 0.05 for step in done)
    assert max(apart(job, 0, 1)) < 1e-4  # the adapter is 0 until the first update
    assert min(apart(job, 0, LAST)) > 1e-3
    assert whole(job, LAST)
    assert weights(job, LAST - 1) != weights(job, LAST)
