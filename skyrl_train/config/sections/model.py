"""[model]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class ModelSection(Section):
    """The model that is trained."""

    path: str = Field(min_length=1)
    """A model directory with config.json and tokenizer, or the name of a model in the local Hugging Face cache."""
    tokenizer: str | None = None
    """Directory or name of the tokenizer (default: the model's)."""
    trust_remote_code: bool = False
    """Run Python code that comes with the model."""
    attention: Literal["flash_attention_2", "sdpa", "eager"] = "flash_attention_2"
    """The attention implementation of the trainer."""
    remove_padding: bool = True
    """Pack sequences without padding in the trainer; needs flash_attention_2."""
    gradient_checkpointing: bool = True  # FIX(MEM004)
    """Recompute activations in the backward pass instead of keeping them."""
    fused_kernels: bool = False
    """Compute log-probabilities in chunks, so that the full logits are never in memory."""
    lora_rank: int = Field(default=0, ge=0)
    """Rank of the LoRA adapter; 0 trains all weights."""
    lora_alpha: float = Field(default=16, gt=0)
    """Scale of the LoRA adapter."""
    lora_targets: tuple[str, ...] = ("all-linear",)
    """Layers that get an adapter."""
