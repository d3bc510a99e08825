"""The ranges that the frameworks assert of single values (CFG010)."""

from skyrl_train.contracts.record import record


@record
class Range:
    """From `least` to `most`; `open` leaves out `least` itself."""

    least: float | None = None
    most: float | None = None
    open: bool = False

    def holds(self, value: float) -> bool:  # FIX(CFG010)
        if self.least is not None and (value < self.least or (self.open and value == self.least)):
            return False
        return self.most is None or value <= self.most

    def __str__(self) -> str:
        if self.most is None:
            return f"more than {self.least:g}" if self.open else f"at least {self.least:g}"
        return f"{'more than ' if self.open else ''}{self.least:g} to {self.most:g}"


RANGES = {
    "rollout.gpu_memory_utilization": Range(0, 1, open=True),
    "rollout.temperature": Range(0),
    "rollout.top_p": Range(0, 1, open=True),
    "rollout.n": Range(1),
    "rollout.max_model_len": Range(1),
    "rollout.tensor_parallel_size": Range(1),
    "rollout.max_sequences": Range(1),
    "actor.sequence_parallel_size": Range(1),
    "actor.ppo_mini_batch_size": Range(1),
    "data.train_batch_size": Range(1),
    "data.max_prompt_tokens": Range(1),
    "data.max_response_tokens": Range(1),
    "actor.lr": Range(0),
    "slurm.nodes": Range(1),
    "slurm.gpus_per_node": Range(1),
    "model.lora_rank": Range(0),
}
"""By setting. vLLM and SGLang assert the first ones, verl and prime-rl the others."""
