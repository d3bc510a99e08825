"""What is run. Random weights and prompts of one length: only the work is compared."""

import json
from typing import NamedTuple

from benchmarks.calibration.shapes import SHAPES

TEXT = """\
[model]
path = "{model}"
attention = "sdpa"
remove_padding = false
lora_rank = {lora_rank}
[data]
train_files = ["{tasks}"]
train_batch_size = {batch}
max_prompt_tokens = {prompt}
max_response_tokens = {response}
loader_workers = 0
shuffle = false
[rollout]
n = {n}
max_model_len = {model_len}
max_tokens = {response}
gpu_memory_utilization = {share}
max_sequences = {sequences}
enforce_eager = {eager}
tensor_parallel_size = {tensor_parallel}
load_format = "{load_format}"
[actor]
lr = 1e-5
ppo_mini_batch_size = {batch}
micro_batch_size_per_gpu = 1
param_offload = false
optimizer_offload = false
kl_loss = {kl}
[slurm]
gpus_per_node = {gpus}
[algorithm]
advantage = "{advantage}"
[agent]
max_turns = 1
max_parallel = 64
tools = ["finish"]
budget_note_tokens = 16
[trainer]
mode = "{mode}"
rollout_gpus = {rollout_gpus}
checkpoint_dir = "{folder}/checkpoints"
experiment = "{name}"
steps = {steps}
save_every_steps = {save_every}
phase_timeout_s = 900
fork_workers = {forks}
logger = ["console", "file"]
verl_overrides = [{words}]
"""
ENGINE = "actor_rollout_ref.rollout.engine_kwargs.vllm"
OURS, OWN = "skyrl", "own_single_turn"
"""Names of agent loops in a row of the data: ours, and verl's own."""
WARM = 2
"""Steps that only warm up: one of each loop."""


class Case(NamedTuple):
    """One shape. `gib` is what of the device it may take, `vllm_gib` vLLM's part of that while it is awake."""

    name: str
    shape: str
    gib: float
    vllm_gib: float
    torch_gib: float
    """What torch may reserve in the trainer: the rest is for the contexts, and for a vLLM that sleeps."""
    prompt: int
    response: int
    model_len: int
    batch: int
    n: int = 2
    lora_rank: int = 0
    load_format: str = "dummy"
    kv_gib: float = 0.0
    """Of vLLM's part, so much for the cache, unmeasured: measuring wants a device on which no other run frees memory."""
    loops: tuple[str, ...] = (OURS,) * 3
    """Which loop runs the rollouts of each step."""
    eager: bool = False
    advantage: str = "grpo"
    """gae trains a critic too."""
    gpus: int = 1
    tensor_parallel: int = 1
    """GPUs of each vLLM server."""
    kl_loss: bool = False
    """With a reference model."""
    save_every: int = -1
    mode: str = "sync"
    rollout_gpus: int = 0
    """Of all GPUs, with separate_async."""
    forks: bool = True
    """The workers are copies of one process."""

    def config(self, *, model: str, tasks: str, folder: str, loop: str, total_gib: float, more: tuple[str, ...]) -> str:
        """The RunConfig of our run; the plain one takes its settings from the same text, with no loop."""
        words = ["actor_rollout_ref.rollout.ignore_eos=True", *more]
        if loop:
            words += [f"actor_rollout_ref.rollout.agent.agent_loop_config_path={loop}"]
        if not self.eager:
            sizes = [size for size in (1, 2, 4, 8, 16, 32) if size < self.sequences * 2]
            words += [f"actor_rollout_ref.rollout.cudagraph_capture_sizes={sizes}".replace(" ", "")]
        if self.kv_gib:
            words += [f"+{ENGINE}.kv_cache_memory_bytes={int(self.kv_gib * 2**30)}"]
        values = self._asdict() | {"eager": str(self.eager).lower(), "steps": len(self.loops)}
        values |= {"kl": str(self.kl_loss).lower(), "forks": str(self.forks).lower()}
        values |= {"share": round(self.vllm_gib / total_gib, 4), "sequences": self.sequences}
        return TEXT.format(model=model, tasks=tasks, folder=folder, words=", ".join(map(json.dumps, words)), **values)

    @property
    def sequences(self) -> int:
        return self.batch * self.n


PAIRS = (OURS, OWN, *(OURS, OWN, OWN, OURS) * 3)
"""Two warm up, and six pairs are compared. Neither loop always comes first: what drifts is no one's gain."""
CASES = (
    Case(
        "0.5b",
        "qwen2.5-0.5b",
        gib=20,
        vllm_gib=10,
        torch_gib=16.5,
        prompt=2048,
        response=1024,
        model_len=4096,
        batch=4,
        loops=PAIRS,
    ),
    Case(
        "7b-lora",
        "qwen2.5-7b",
        gib=80,
        vllm_gib=32,
        torch_gib=74,
        prompt=2048,
        response=2000,
        model_len=4096,
        batch=8,
        lora_rank=8,
        load_format="safetensors",
        kv_gib=8,
    ),
)
SMALL = CASES[0]._replace(loops=(OURS,) * 2, gib=40, torch_gib=30, kv_gib=4.0, gpus=2)
TWO_GPUS = (
    SMALL._replace(name="0.5b-2-gpus-kl", kl_loss=True),
    SMALL._replace(name="0.5b-2-gpus-critic", advantage="gae", tensor_parallel=2),
    SMALL._replace(name="0.5b-2-gpus-lora", lora_rank=8, load_format="safetensors"),
)
"""FSDP2 over two GPUs: with a reference model, with a critic and one vLLM server over both GPUs, with an adapter."""
FOUR_GPUS = tuple(case._replace(name=case.name.replace("-2-", "-4-"), gpus=4) for case in TWO_GPUS)
"""The same over four: four vLLM servers, two over two GPUs each, and four with an adapter."""
SEPARATE = SMALL._replace(
    name="0.5b-separate", mode="separate_async", gpus=2, rollout_gpus=1, loops=(OURS,) * 4, batch=8, vllm_gib=20
)
SEPARATES = (
    SEPARATE._replace(kl_loss=True),
    SEPARATE._replace(name="0.5b-separate-critic", advantage="gae"),
    SEPARATE._replace(name="0.5b-separate-lora", lora_rank=8),
    SEPARATE._replace(name="0.5b-separate-2-and-2", gpus=4, rollout_gpus=2, tensor_parallel=2),
)
"""Rollouts on GPUs of their own: with a reference model, a critic, an adapter; two trainers and a server over two GPUs."""
PROOF = CASES[0]._replace(name="0.5b-proof", loops=(OURS,) * 4, gib=26, torch_gib=16.5, vllm_gib=8, kv_gib=2.0)
SYNCS = PROOF._replace(name="tiny-200-syncs", shape="tiny", loops=(OURS,) * 200, prompt=128, response=16, model_len=256)
"""Are the weights proven on the model server: with planted faults, and in 200 healthy syncs."""
CRITIC = CASES[0]._replace(name="0.5b-ppo", advantage="gae", loops=(OURS,) * 2, gib=40, torch_gib=30)
TAIL = CASES[0]._replace(
    name="long-tail",
    loops=(OURS,) * 10,
    gib=40,
    torch_gib=30,
    kv_gib=8.0,
    prompt=256,
    response=256,
    model_len=768,
    batch=8,
    n=4,
)
"""Short replies, and tools that take most of the time."""
assert all(case.shape in SHAPES for case in CASES)
