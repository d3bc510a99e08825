"""[actor] and [critic]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class ActorSection(Section):
    """The policy's update."""

    strategy: Literal["fsdp", "fsdp2"] = "fsdp2"
    """How the weights are sharded over the GPUs."""
    lr: float = Field(default=1e-6, gt=0)
    """Learning rate."""
    ppo_mini_batch_size: int = Field(default=1, ge=1)
    """Prompts in one optimiser step; at most data.train_batch_size."""
    micro_batch_size_per_gpu: int = Field(default=1, ge=1)
    """Sequences in one forward and backward pass."""
    dynamic_batch_size: bool = False
    """Fill micro batches up to max_tokens_per_gpu instead of a fixed number of sequences."""
    max_tokens_per_gpu: int = Field(default=16384, ge=1)
    """Most tokens in a micro batch if dynamic_batch_size is on."""
    ppo_epochs: int = Field(default=1, ge=1)
    """Passes over each batch in an update."""
    clip_ratio: float = Field(default=0.2, gt=0)
    """PPO's clip range."""
    grad_clip: float = Field(default=1.0, gt=0)
    """Largest gradient norm; larger gradients are scaled down."""
    entropy_coefficient: float = Field(default=0.0, ge=0)
    """Weight of the entropy bonus."""
    kl_loss: bool = False
    """Add a KL term to the loss that keeps the policy close to the reference policy."""
    kl_loss_coefficient: float = Field(default=0.001, ge=0)
    """Weight of the KL term; used if kl_loss is on."""
    param_offload: bool = True
    """Keep the weights on the host between phases."""
    optimizer_offload: bool = True
    """Keep the optimiser's state on the host between phases."""
    cpu_offload: bool = False
    """FSDP's own off-loading: weights and optimiser stay on the host all the time. Does not work with LoRA."""
    model_dtype: Literal["fp32", "bf16"] = "fp32"
    """Data type of the weights that the optimiser updates."""
    torch_compile: bool = True
    """Compile parts of the update with torch.compile."""
    entropy_chunking: bool = True
    """Compute the entropy in chunks of tokens: less memory in the update."""
    entropy_checkpointing: bool = False
    """Recompute the entropy in the backward pass: even less memory, but slower."""
    sequence_parallel_size: int = Field(default=1, ge=1)
    """GPUs that share one sequence (Ulysses)."""


class CriticSection(Section):
    """The value model; used only if algorithm.advantage is gae."""

    path: str | None = None
    """Model to start from (default: the policy's model)."""
    lr: float = Field(default=1e-5, gt=0)
    """Learning rate."""
    micro_batch_size_per_gpu: int = Field(default=1, ge=1)
    """Sequences in one forward and backward pass."""
    param_offload: bool = True
    """Keep the weights on the host between phases."""
    optimizer_offload: bool = True
    """Keep the optimiser's state on the host between phases."""
