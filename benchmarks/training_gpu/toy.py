"""A task that can be learnt: the tiny model of the tests writes one of two commands, and one of them mends the task.

Sandboxes are directories, the reward is that of real tests. Needs tests/ of a checkout.
"""

import json
from pathlib import Path

from benchmarks.training_gpu import cpu, words
from benchmarks.training_gpu.cases import ENGINE
from benchmarks.training_gpu.prepare import write_job
from skyrl_train.contracts.verl_keys import SEPARATE

STEPS, BATCH, N = 12, 4, 8
FIRST, LAST = 4, 4
"""So many steps at either end are compared."""
LEAST_RISE = 0.1
CACHE_GIB = 1
"""Given, since vLLM fails to measure what is free where two engines start on a GPU."""


def prepare(
    folder: Path,
    *,
    on_cpu: bool,
    name: str = "toy",
    mode: str = "sync",
    seed: int | None = None,
    save_every: int = -1,
    lr: float = 1e-3,
) -> list[str]:
    from cpu_stack.run import CONFIG, rows

    gpus = 2 if mode == SEPARATE else 1
    job, loop = folder / name, folder / f"{name}_loops.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "toy.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows()), encoding="utf-8")
    loop.write_text(f"- name: skyrl\n  _target_: cpu_stack.loop.DirectoryLoop\n  job_dir: {job}\n", encoding="utf-8")
    own = [f"actor_rollout_ref.rollout.agent.agent_loop_config_path={loop}"]
    text = CONFIG.format(
        model=folder / "toy_model",
        tasks=folder / "toy.jsonl",
        checkpoints=folder / f"{name}_checkpoints",
        job=job,
        steps=STEPS,
        advantage="grpo",
        lr=lr,
        phase_s=600,
        gpus=gpus,
    ).partition("verl_overrides")[0]
    text = text.replace("\nn = 2\n", f"\nn = {N}\ngpu_memory_utilization = 0.12\n")
    text = text.replace("max_sequences = 8\n", f"max_sequences = {BATCH * N}\n").replace(
        "max_parallel = 4", "max_parallel = 32"
    )
    own_gpus = f'[slurm]\ngpus_per_node = {gpus}\n[trainer]\nmode = "{mode}"\nrollout_gpus = {gpus - 1}\n'
    text = text.replace("[trainer]\n", own_gpus + (f"seed = {seed}\n" if seed else ""))
    cache = [f"+{ENGINE}.kv_cache_memory_bytes={CACHE_GIB << 30}"]
    more = [word for word in cpu.words(gpus) if "free_cache_engine" not in word] if on_cpu else cache
    write_job(job, f"{text}save_every_steps = {save_every}\nverl_overrides = {json.dumps(own + more)}\n")
    return words.ours(str(job))


def rewards(job: Path) -> list[float]:
    """Of each step: the mean reward of what was scored."""
    return [line["reward"] / line["scored"] if line.get("scored") else 0.0 for line in _counts(job)]


def most_scored(job: Path) -> bool:
    """Whether at least half of the rollouts of each step were scored."""
    return all(line.get("scored", 0) * 2 >= BATCH * N for line in _counts(job))


def _counts(job: Path) -> list[dict[str, float]]:
    path = job / "rollout_counts.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
