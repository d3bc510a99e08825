"""A configuration of ours is judged as the run that skyrl-train makes of it."""

from typing import Any

import pytest

from plans import MIG20, ROOT, plan
from skyrl_doctor.budget.job import memory_job
from skyrl_doctor.plan.syntax.hydra import parse as parse_override
from skyrl_train.config.load import parse
from skyrl_train.memory import Job, job_from_verl
from skyrl_train.rl.overrides import Place, overrides

PACKED = {"model": 'attention = "flash_attention_2"\nremove_padding = true\n'}
GAE = {"algorithm": 'advantage = "gae"\n'}
MANY = {"data": "train_batch_size = 4\n"}
CHANGES: dict[str, dict[str, str]] = {
    "as it is": {},
    "eager attention": {"model": 'attention = "eager"\n'},
    "packed": PACKED,
    "nothing recomputed": {**GAE, "model": "gradient_checkpointing = false\n"},
    "fused": {"model": PACKED["model"] + "fused_kernels = true\n"},
    "LoRA of some layers": {"model": 'lora_rank = 16\nlora_targets = ["q_proj", "v_proj"]\n'},
    "LoRA of all": {"model": "lora_rank = 16\n"},
    "a critic": GAE,
    "a critic of its own": {
        **GAE,
        "critic": "micro_batch_size_per_gpu = 2\nparam_offload = false\noptimizer_offload = true\n",
    },
    "a critic beside FSDP1": {**GAE, **PACKED, "actor": 'strategy = "fsdp"\n'},
    "KL in the loss": {"actor": "kl_loss = true\n"},
    "KL in the reward": {"algorithm": "kl_in_reward = true\n"},
    "nothing offloaded": {"actor": "param_offload = false\noptimizer_offload = false\n"},
    "FSDP2's own offload": {"actor": "cpu_offload = true\n"},
    "bf16": {"actor": 'model_dtype = "bf16"\n'},
    "micro batches": {**MANY, "actor": "micro_batch_size_per_gpu = 2\n"},
    "micro batches of log-probs": {**MANY, "rollout": "log_prob_micro_batch_size_per_gpu = 2\n"},
    "mini batches": {**MANY, "actor": "ppo_mini_batch_size = 2\n"},
    "micro batches by tokens": {"actor": "dynamic_batch_size = true\nmax_tokens_per_gpu = 9000\n"},
    "entropy": {"actor": "entropy_coefficient = 0.1\nentropy_chunking = true\nentropy_checkpointing = true\n"},
    "entropy whole": {"actor": "entropy_coefficient = 0.1\nentropy_chunking = false\n"},
    "nothing compiled": {"actor": "torch_compile = false\n"},
    "sequences in parallel": {
        **PACKED,
        "actor": "sequence_parallel_size = 2\n",
        "slurm": "gpus_per_node = 2\n",
    },
    "two GPUs for vLLM": {"rollout": "tensor_parallel_size = 2\n", "slurm": "gpus_per_node = 2\n"},
    "two nodes": {"slurm": "nodes = 2\n"},
    "an engine of its own size": {"rollout": "max_sequences = 8\nmax_batched_tokens = 4096\ntemperature = 0.7\n"},
    "graphs": {"rollout": "enforce_eager = false\n"},
    "no sleep": {"rollout": "free_cache_engine = false\n"},
    "verl's words": {"trainer": 'verl_overrides = ["actor_rollout_ref.rollout.n=8", "critic.strategy=fsdp"]\n'},
}


def changed(change: dict[str, str]) -> str:
    """The shipped example with other settings, each in the place of the one that stood there."""
    named = {(table, line.split(" = ")[0]) for table, lines in change.items() for line in lines.splitlines()}
    kept, table = [], ""
    for line in (ROOT / MIG20).read_text().splitlines():
        if line.startswith("["):
            table = line.strip("[]")
            line += "\n" + change.get(table, "")
        if (table, line.split(" = ")[0]) not in named:
            kept.append(line)
    tables = {line.strip("[]").partition("]")[0] for line in kept if line.startswith("[")}
    return "\n".join([*kept, *(f"[{name}]\n{lines}" for name, lines in change.items() if name not in tables)])


def made_by_the_trainer(text: str) -> Job:
    config = parse(text)
    values: dict[str, Any] = {}
    for word in overrides(config, Place("/job", "/work"), {}):
        override = parse_override(word)
        values[override.key] = override.value
    return job_from_verl(values)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_job_is_the_one_that_the_trainer_runs(change: dict[str, str]) -> None:
    text = changed(change)
    assert memory_job(plan(text, "run.toml")) == made_by_the_trainer(text)
