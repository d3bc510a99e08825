"""The files of a run, and its command line. `--dry-run` prints what comes of it."""

import json
import sys
from pathlib import Path

from benchmarks.calibration import models
from benchmarks.calibration.main_ppo import REWARD
from benchmarks.calibration.shapes import SHAPES
from benchmarks.training_gpu import cpu, words
from benchmarks.training_gpu.cases import OURS, OWN, Case
from skyrl_train.checkpoints.resume import Resume
from skyrl_train.config.load import parse, resolved
from skyrl_train.launch import commands, directory
from skyrl_train.rl.overrides import Place, overrides

PROMPT = "fix the tests "
LOOPS = "benchmarks.training_gpu.loop"
PLAIN_STEPS = 3
WITHOUT_GIB = 140.0
"""Stands for the device's memory where there is no device."""


def rows(case: Case) -> list[dict[str, object]]:
    """Step by step: the data is not shuffled, and each row names its loop."""
    made = []
    for number in range(case.batch * len(case.loops)):
        text = (f"{number} " + PROMPT * (case.prompt // len(PROMPT) + 1))[: max(case.prompt - 64, 16)]
        one: dict[str, object] = {
            "prompt": [{"role": "user", "content": text}],
            "agent_name": case.loops[number // case.batch],
            "data_source": "proof",
            "reward_model": {"style": "rule", "ground_truth": json.dumps({"test": "PASSED"})},
            "extra_info": {"task_id": f"proof-{number}", "image": "none", "index": number},
        }
        made.append(one)
    return made


def write_lines(path: Path, lines: list[dict[str, object]]) -> str:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return str(path)


def write_job(job: Path, text: str) -> None:
    """A job directory as `skyrl-train launch` leaves one."""
    job.mkdir(parents=True, exist_ok=True)
    config = parse(text)
    (job / directory.CONFIG).write_text(text, encoding="utf-8")
    (job / directory.RESOLVED).write_text(resolved(config), encoding="utf-8")
    commands.write(str(job), commands.default(sys.executable, config, str(job), None))


def settings(case: Case, folder: Path, loop: str, *, total_gib: float, on_cpu: bool) -> str:
    return case.config(
        model=str(folder / "model"),
        tasks=str(folder / "tasks.jsonl"),
        folder=str(folder),
        loop=loop,
        total_gib=total_gib or WITHOUT_GIB,
        more=cpu.words(case.gpus) if on_cpu else (),
    )


def ours(case: Case, folder: Path, *, total_gib: float, on_cpu: bool) -> list[str]:
    """`skyrl-train train` with both loops, each for the steps that its rows name."""
    job, loop = folder / "ours", folder / "loops.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    loop.write_text(
        f"- name: {OURS}\n  _target_: {LOOPS}.BareLoop\n  job_dir: {job}\n- name: {OWN}\n  _target_: {LOOPS}.OwnLoop\n",
        encoding="utf-8",
    )
    write_lines(folder / "tasks.jsonl", rows(case))
    write_job(job, settings(case, folder, str(loop), total_gib=total_gib, on_cpu=on_cpu))
    return words.ours(str(job))


def plain(case: Case, folder: Path, *, total_gib: float, on_cpu: bool) -> list[str]:
    """`verl.trainer.main_ppo` with the same settings and prompts, and nothing of ours."""
    reward = folder / "reward.py"
    reward.write_text(REWARD, encoding="utf-8")
    bare = [{key: value for key, value in row.items() if key != "agent_name"} for row in rows(case)]
    listed = write_lines(folder / "plain.jsonl", bare)
    few = case._replace(name=f"{case.name}-plain", loops=case.loops[:PLAIN_STEPS])
    config = parse(settings(few, folder, "", total_gib=total_gib, on_cpu=on_cpu))
    same = overrides(config, Place(str(folder), str(folder)), Resume(None, 0, ()).overrides)
    return words.plain(same, rows=listed, reward=str(reward))


def make_model(case: Case, folder: Path) -> None:
    """Random weights of the shape, and a tokenizer with a text for each token: a reply of random ones is not empty."""
    if any((folder / "model").glob("*.safetensors")):
        return
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    path = models.write(folder / "model", SHAPES[case.shape], every_token=True)
    config = AutoConfig.from_pretrained(path)
    models.from_shape(AutoModelForCausalLM, config=config, dtype=torch.bfloat16).save_pretrained(path)
