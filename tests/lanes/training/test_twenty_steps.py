"""Two runs of one seed are one run: loss, reward and gradient, step by step, to the last digit.

SKYRL_TEST_STEPS=20 makes them as long as that; the few steps of the lane go the same way in less time.
"""

import json
import os
from pathlib import Path

import pytest

from cpu_stack.run import METRICS, write_job
from lanes.training.lab import allow, training
from skyrl_train.config.load import parse, resolved
from skyrl_train.launch import directory

pytestmark = [pytest.mark.verl, pytest.mark.vllm]
STEPS = int(os.environ.get("SKYRL_TEST_STEPS", "3"))
TWO_UPDATES = {
    "ppo_mini_batch_size = 4\nmicro_batch_size_per_gpu = 8\n": "ppo_mini_batch_size = 2\nmicro_batch_size_per_gpu = 4\n",
    "log_prob_micro_batch_size_per_gpu = 8": "log_prob_micro_batch_size_per_gpu = 4",
}
"""Of a step. The loss of the first one is the mean of the advantages, which is 0."""
CLOCKS = (
    "timing_s/",
    "timing_per_token_ms/",
    "perf/",
    "rollout_metrics/time",
    "actor/perf/",
    "agent_loop/",
    "weights/probe_s",
)
"""What no seed decides: how long things took."""
CURVES = ("actor/pg_loss", "actor/grad_norm", "critic/score/mean", "training/rollout_probs_diff_mean")


def curves(job: Path, model: Path, *, seed: int) -> list[dict[str, float]]:
    write_job(job, model, steps=STEPS, phase_s=400)
    text = (job / directory.CONFIG).read_text(encoding="utf-8")
    text = text.replace("[trainer]\n", f"[trainer]\nseed = {seed}\ndeterministic = true\nsave_every_steps = -1\n")
    text = text.replace("max_sequences = 8", "max_sequences = 1")
    for old, new in TWO_UPDATES.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    (job / directory.CONFIG).write_text(text, encoding="utf-8")
    (job / directory.RESOLVED).write_text(resolved(parse(text)), encoding="utf-8")
    allow(job)
    with training(job, "run") as run:
        assert run.status() == 0, run.log[-6000:]
    lines = [json.loads(line)["data"] for line in (job / METRICS).read_text().splitlines()]
    return [{name: value for name, value in line.items() if not name.startswith(CLOCKS)} for line in lines]


def test_two_runs_of_one_seed_have_the_same_curves(tmp_path: Path, model: Path) -> None:
    first, second = (curves(tmp_path / name / "job", model, seed=7) for name in ("a", "b"))
    assert len(first) == STEPS
    assert [[step[name] for name in CURVES] for step in first] == [[step[name] for name in CURVES] for step in second]
    assert first == second
    assert len({step["actor/grad_norm"] for step in first}) > STEPS // 2  # they are curves, and no constant
