"""A run of `skyrl-train train` on a CPU: its job directory, its tasks, its environment."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from cpu_stack.tiny import PROMPTS
from skyrl_train.config.load import parse, resolved
from skyrl_train.contracts.tasks.rows import TaskRow, read_row
from skyrl_train.demo.rows import TASKS, r2e_row
from skyrl_train.launch import commands, directory
from skyrl_train.node.ray import OWN_CLUSTER
from skyrl_train.tasks.convert import verl_row

BROKEN = "SKYRL_TEST_BROKEN_SANDBOXES"
"""Names a file; so many sandboxes as stand in it do not start."""
LATE = "late_sandboxes"
"""A file in the job directory: while it is there, some sandboxes are late, as in slow tasks (cpu_stack.loop)."""
TAKEN = "taken.jsonl"
"""Where the sampler writes which prompts each step takes, in the job directory (cpu_stack.sampler)."""
METRICS = "metrics.jsonl"
"""Where verl writes the figures of each step, in the job directory."""
TESTS = Path(__file__).parents[1]
CONFIG = """\
[model]
path = "{model}"
attention = "sdpa"
remove_padding = false
gradient_checkpointing = false
[data]
train_files = ["{tasks}"]
train_batch_size = 4
max_prompt_tokens = 64
max_response_tokens = 512
loader_workers = 0
[rollout]
n = 2
max_model_len = 640
max_tokens = 24
enforce_eager = true
free_cache_engine = false
max_sequences = 8
max_batched_tokens = 1024
log_prob_micro_batch_size_per_gpu = 8
[actor]
lr = {lr}
ppo_mini_batch_size = 4
micro_batch_size_per_gpu = 8
torch_compile = false
param_offload = false
optimizer_offload = false
[critic]
micro_batch_size_per_gpu = 8
param_offload = false
optimizer_offload = false
[algorithm]
advantage = "{advantage}"
[agent]
max_turns = 3
max_parallel = 4
budget_note_tokens = 16
[trainer]
checkpoint_dir = "{checkpoints}"
steps = {steps}
epochs = 10
logger = ["console", "file"]
phase_timeout_s = {phase_s}
empty_steps_allowed = 1
verl_overrides = [
  "trainer.device=cpu",
  "+actor_rollout_ref.rollout.enable_sleep_mode=False",
  "actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes=16",
  "+actor_rollout_ref.rollout.engine_kwargs.vllm.worker_extension_cls=cpu_stack.vllm_worker.Worker",
  "actor_rollout_ref.rollout.agent.agent_loop_config_path={job}/cpu_loops.yaml",
  "+ray_kwargs.ray_init.num_gpus={gpus}",
  "+ray_kwargs.ray_init.object_store_memory=500000000",
]
"""
RECORDING = """\
  "trainer.v1.sampler.custom_sampler.path=pkg://cpu_stack.sampler",
  "trainer.v1.sampler.custom_sampler.name=RecordingSampler",
"""
"""Overrides of a run whose sampler writes TAKEN."""


def config_text(
    model: Path,
    job: Path,
    *,
    tasks: Path,
    checkpoints: Path,
    steps: int = 1,
    advantage: str = "grpo",
    lr: float = 1e-3,
    phase_s: float = 900,
    gpus: int = 1,
) -> str:
    """The configuration of a run on the CPU, as text."""
    places = {"model": model, "tasks": tasks, "checkpoints": checkpoints, "job": job}
    return CONFIG.format(**places, steps=steps, advantage=advantage, lr=lr, phase_s=phase_s, gpus=gpus)


def write_job(
    job: Path,
    model: Path,
    *,
    steps: int,
    advantage: str = "grpo",
    lr: float = 1e-3,
    phase_s: float = 900,
    mode: str = "sync",
    rollout_gpus: int = 0,
) -> None:
    """A job directory as `skyrl-train launch` leaves one."""
    job.mkdir(parents=True)
    tasks = job / "tasks.jsonl"
    tasks.write_text("".join(f"{json.dumps(row)}\n" for row in rows()), encoding="utf-8")
    gpus = 1 + rollout_gpus
    text = config_text(
        model,
        job,
        tasks=tasks,
        checkpoints=job.parent / "checkpoints",
        steps=steps,
        advantage=advantage,
        lr=lr,
        phase_s=phase_s,
        gpus=gpus,
    )
    if mode != "sync":
        text = text.replace("verl_overrides = [\n", f"verl_overrides = [\n{RECORDING}")
    more = f'mode = "{mode}"\nrollout_gpus = {rollout_gpus}\n'
    text = text.replace("[trainer]\n", f"[slurm]\ngpus_per_node = {gpus}\n[trainer]\n{more}")
    config = parse(text)
    (job / directory.CONFIG).write_text(text, encoding="utf-8")
    (job / directory.RESOLVED).write_text(resolved(config), encoding="utf-8")
    commands.write(str(job), commands.default(sys.executable, config, str(job), None))
    loop = f"- name: skyrl\n  _target_: cpu_stack.loop.DirectoryLoop\n  job_dir: {job}\n"
    (job / "cpu_loops.yaml").write_text(loop, encoding="utf-8")


def rows() -> list[dict[str, object]]:
    """One task of the demonstration under many prompts."""
    demo = TASKS[0]
    task = read_row(r2e_row(demo), 1)
    assert isinstance(task, TaskRow)
    return [
        {
            **verl_row(task, number),
            "prompt": [{"role": "user", "content": prompt}],
            "extra_info": {"task_id": f"{demo.name}-{number}", "image": task.image},
        }
        for number, prompt in enumerate(PROMPTS)
    ]


def environment(job: Path) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAY_", "SLURM_", "SKYRL_"))}
    return kept | {
        "PYTHONPATH": str(TESTS),  # not the packages: an interpreter with a fault has its own copy of them
        "VERL_USE_EXTERNAL_MODULES": "cpu_stack.device",
        "VERL_PLATFORM": "cpu",
        "VERL_ENGINE_DEVICE": "cuda",
        "VERL_ENGINE_VENDOR": "nvidia",  # on a GPU verl asks the driver
        "VERL_FILE_LOGGER_PATH": str(job / METRICS),
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "TORCHDYNAMO_DISABLE": "1",
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "RAY_ADDRESS": OWN_CLUSTER,  # as a local launch has it
        "RAY_USAGE_STATS_ENABLED": "0",
        "OMP_NUM_THREADS": "1",
        BROKEN: str(job / "broken"),
    }
