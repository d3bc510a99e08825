"""What is measured: a case is a model, the overrides of verl that cost memory, and how full its samples are."""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

A = "actor_rollout_ref"
Value = str | int | float | bool

DEFAULTS: dict[str, Value] = {
    f"{A}.actor.strategy": "fsdp",
    f"{A}.actor.use_dynamic_bsz": False,
    f"{A}.actor.use_kl_loss": False,
    f"{A}.actor.entropy_coeff": 0,
    f"{A}.actor.calculate_entropy": False,
    f"{A}.actor.fsdp_config.param_offload": False,
    f"{A}.actor.fsdp_config.optimizer_offload": False,
    f"{A}.actor.fsdp_config.entropy_from_logits_with_chunking": False,
    f"{A}.model.enable_gradient_checkpointing": True,
    f"{A}.model.use_remove_padding": False,
    f"{A}.model.use_fused_kernels": False,
    f"{A}.model.lora_rank": 0,
    f"{A}.model.override_config.attn_implementation": "sdpa",
    f"{A}.rollout.n": 1,
    f"{A}.rollout.temperature": 1.0,
    f"{A}.rollout.checkpoint_engine.update_weights_bucket_megabytes": 2048,
    "algorithm.adv_estimator": "grpo",
}


@dataclass(frozen=True, slots=True)
class Case:
    """One configuration to run; the keys of `job` are verl's."""

    id: str
    shape: str
    job: Mapping[str, Value]
    fill: tuple[float, ...] = (1.0,)
    """Share of the longest prompt and response that the samples hold, in turn."""
    reply_fill: tuple[float, ...] = ()
    """The same for the responses alone, if their lengths do not follow the prompts'."""
    flash_attn: bool = False
    """Run as an installation with flash-attn does: packed attention and its cross-entropy. False: torch's own."""
    checkpoint: bool = False
    """Save a checkpoint after the second step, and measure that too."""
    limit_gib: float | None = None
    """Cap on what torch may reserve, in place of a smaller GPU."""

    def lengths(self) -> list[tuple[int, int]]:
        """(prompt, response) tokens of each sample of the batch."""
        prompt, response = int(self.job["data.max_prompt_length"]), int(self.job["data.max_response_length"])
        samples = int(self.job["data.train_batch_size"]) * int(self.job[f"{A}.rollout.n"])
        replies = self.reply_fill or self.fill
        shares = [(self.fill[index % len(self.fill)], replies[index % len(replies)]) for index in range(samples)]
        return [(max(1, round(first * prompt)), max(1, round(second * response))) for first, second in shares]


def drawn(samples: int, seed: int) -> tuple[float, ...]:
    """Shares of the limit for so many samples, spread as the lengths of real prompts and replies are: the median at 0.3, the
    99th percentile near the limit."""
    dice = random.Random(seed)
    return tuple(round(min(1.0, 0.3 * math.exp(dice.gauss(0, 0.5))), 4) for _ in range(samples))


@dataclass(frozen=True, slots=True)
class Knobs:
    """The short names that campaign.py writes cases with; each stands for the override beside it."""

    prompt: int = 2048
    response: int = 1024
    micro: int = 1
    checkpointing: bool = True
    extra: Mapping[str, Value] = field(default_factory=dict)


def case(name: str, shape: str, knobs: Knobs, **settings: object) -> Case:
    """A case out of short names; the log-prob micro-batch is the update's, as in the notes' own scripts."""
    job: dict[str, Value] = DEFAULTS | {
        "data.max_prompt_length": knobs.prompt,
        "data.max_response_length": knobs.response,
        f"{A}.actor.ppo_micro_batch_size_per_gpu": knobs.micro,
        f"{A}.rollout.log_prob_micro_batch_size_per_gpu": knobs.micro,
        f"{A}.model.enable_gradient_checkpointing": knobs.checkpointing,
    }
    job |= knobs.extra
    job.setdefault("data.train_batch_size", 2 * knobs.micro)  # the second micro-batch meets the first one's gradients
    job.setdefault(f"{A}.actor.ppo_mini_batch_size", job["data.train_batch_size"])
    if job[f"{A}.actor.use_kl_loss"]:
        job.setdefault(f"{A}.ref.log_prob_micro_batch_size_per_gpu", knobs.micro)
    if job["algorithm.adv_estimator"] == "gae":
        job.setdefault("critic.ppo_micro_batch_size_per_gpu", knobs.micro)
        job.setdefault("critic.ppo_mini_batch_size", job["data.train_batch_size"])
    return Case(id=name, shape=shape, job=job, **settings)  # type: ignore[arg-type]
