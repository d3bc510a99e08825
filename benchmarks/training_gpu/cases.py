"""What is run: two shapes, each by both trainers. Random weights and prompts of one length: only the work is compared."""

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
max_sequences = 64
[actor]
lr = 1e-5
ppo_mini_batch_size = {batch}
micro_batch_size_per_gpu = {micro}
param_offload = {offload}
optimizer_offload = {offload}
[agent]
max_turns = 1
max_parallel = 64
tools = ["finish"]
budget_note_tokens = 16
[trainer]
checkpoint_dir = "{folder}/checkpoints"
experiment = "{name}"
steps = {steps}
save_every_steps = {steps}
logger = ["console", "file"]
verl_overrides = ["actor_rollout_ref.rollout.ignore_eos=True"]
"""


class Case(NamedTuple):
    """One shape. `gib` is what of the device it may take."""

    name: str
    shape: str
    gib: int
    prompt: int
    response: int
    model_len: int
    batch: int
    n: int = 2
    lora_rank: int = 0
    share: float = 0.4
    micro: int = 1
    offload: bool = True
    steps: int = 3

    def config(self, *, model: str, tasks: str, folder: str, loop: str) -> str:
        """The RunConfig of our run; the plain one takes its settings from the same text."""
        values = self._asdict() | {"offload": str(self.offload).lower()}
        text = TEXT.format(model=model, tasks=tasks, folder=folder, **values)
        if not loop:
            return text
        key = f'"actor_rollout_ref.rollout.agent.agent_loop_config_path={loop}"'
        return text.replace("verl_overrides = [", f"verl_overrides = [{key}, ")


CASES = (
    Case("0.5b", "qwen2.5-0.5b", gib=20, prompt=2048, response=1024, model_len=4096, batch=8),
    Case("7b-lora", "qwen2.5-7b", gib=80, prompt=2048, response=2000, model_len=4096, batch=8, lora_rank=8),
)
assert all(case.shape in SHAPES for case in CASES)
