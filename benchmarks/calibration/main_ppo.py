"""Whole runs of `python -m verl.trainer.main_ppo`: the proof that the driven workers use what a real run uses."""

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.calibration import models, record
from benchmarks.calibration.campaign import KL, OFFLOAD
from benchmarks.calibration.cases import A, Case, Knobs, case
from benchmarks.calibration.shapes import SHAPES
from skyrl_train import process

LIMIT_S = 330
STEP = re.compile(r"step:(\d+) - (.*)")
NUMBER = re.compile(r"([A-Za-z0-9_/@.-]+):(?:np\.float\d+\()?(-?[0-9][0-9.e+-]*)\)?")
REWARD = "def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):\n    return float(len(solution_str) % 7) / 7\n"

CASES = (
    case("main_ppo-0.5b", "qwen2.5-0.5b", Knobs(extra={"data.train_batch_size": 4, f"{A}.rollout.n": 2})),
    case("main_ppo-1.5b-offload-kl", "qwen2.5-1.5b", Knobs(extra=KL | OFFLOAD | {f"{A}.rollout.n": 2})),
)
ALWAYS: dict[str, Any] = {
    "data.dataloader_num_workers": 0,
    "data.truncation": "right",
    f"{A}.rollout.name": "vllm",
    f"{A}.rollout.tensor_model_parallel_size": 1,
    f"{A}.rollout.enforce_eager": True,
    f"{A}.rollout.ignore_eos": True,
    f"{A}.rollout.gpu_memory_utilization": 0.3,
    f"{A}.rollout.agent.num_workers": 1,
    "reward.num_workers": 1,
    "transfer_queue.backend.SimpleStorage.num_data_storage_units": 1,
    "trainer.n_gpus_per_node": 1,
    "trainer.nnodes": 1,
    "trainer.logger": '["console"]',
    "trainer.val_before_train": False,
    "trainer.test_freq": -1,
    "trainer.save_freq": -1,
    "trainer.total_training_steps": 2,
    "ray_kwargs.ray_init.include_dashboard": False,
}


def steps(text: str) -> list[dict[str, float]]:
    """The metrics that verl prints after each step."""
    found = []
    for match in STEP.finditer(text):
        pairs = {key: float(value) for key, value in NUMBER.findall(match[2])}
        found.append(
            {"step": float(match[1])}
            | {key: value for key, value in pairs.items() if "perf/" in key or "timing" in key}
        )
    return found


def causes(text: str) -> str:
    """The first errors of the log: what comes last is what died of them."""
    rows = [row[-400:] for row in text.splitlines() if re.search(r"[A-Za-z]Error\b|ERROR", row)]
    return "\n".join(rows[:20]) or text[-3000:]


def prepare(subject: Case, folder: Path) -> dict[str, Any]:
    """The model with weights, a data set of long prompts, a reward; the overrides that name them."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    model = folder / f"{subject.shape}-weights"
    models.write(model, SHAPES[subject.shape])
    config = AutoConfig.from_pretrained(model)
    models.from_shape(AutoModelForCausalLM, config=config, dtype=torch.bfloat16).save_pretrained(model)
    length = int(subject.job["data.max_prompt_length"]) - 64
    row = {
        "prompt": [{"role": "user", "content": "fix the tests " * (length // 14)}],
        "data_source": "calibration",
        "reward_model": {"style": "rule", "ground_truth": ""},
        "extra_info": {"index": 0},
    }
    data, reward = folder / f"{subject.id}.parquet", folder / "reward.py"
    pq.write_table(pa.Table.from_pylist([row] * 64), data)
    reward.write_text(REWARD)
    return {
        f"{A}.model.path": model,
        "data.train_files": data,
        "data.val_files": data,
        "reward.custom_reward_function.path": reward,
        "reward.custom_reward_function.name": "compute_score",
        "trainer.default_local_dir": folder / f"{subject.id}-checkpoints",
    }


def launch(overrides: Mapping[str, Any], log: Path) -> int:
    """main_ppo in a process group of its own: a failed weight sync waits for ever, and Ray starts many processes."""
    command = [sys.executable, "-m", "verl.trainer.main_ppo", *(f"++{key}={value}" for key, value in overrides.items())]
    environ = os.environ | {"HYDRA_FULL_ERROR": "1", "VLLM_NO_USAGE_STATS": "1", "RAY_USAGE_STATS_ENABLED": "0"}
    with log.open("w") as file:
        done = process.run(command, limit_s=LIMIT_S, grace_s=0.0, stdout=file, stderr=file, env=environ)
    return -1 if done.status is None else done.status


def run_case(subject: Case, folder: Path) -> dict[str, Any]:
    """One run, recorded."""
    line = record.head(subject, SHAPES[subject.shape], "main_ppo")
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{subject.id}.log"
    line["job"] = dict(subject.job) | ALWAYS
    code = launch(dict(subject.job) | ALWAYS | prepare(subject, folder), log)
    text = log.read_text(errors="replace")
    seen = steps(text)
    outcome = {
        "outcome": "ok" if len(seen) >= 2 else "error",
        "error": None if len(seen) >= 2 else f"exit {code}: {causes(text)}",
    }
    lines = [row[-300:] for row in text.splitlines() if "GiB" in row]
    return line | {"phases": {}, "vllm": {"lines": lines}, "main_ppo": {"steps": seen}, "oom": None} | outcome


def run(cases: Sequence[Case], out: Path, folder: Path) -> int:
    """All cases; how many failed."""
    failed = 0
    for subject in cases:
        line = run_case(subject, folder)
        record.append(out, line)
        print(f"{subject.id:<44} {line['outcome']} {json.dumps(line['main_ppo'])} {line['error'] or ''}", flush=True)
        failed += line["outcome"] != "ok"
    return failed
