"""[model]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class ModelSection(Section):
    """The model that is trained."""

    path: str = Field(min_length=1)
    """A directory with config.json and tokenizer, or a name on the Hugging Face hub that is in the local cache."""
    tokenizer: str | None = None
    """Where the tokenizer is, if not with the model."""
    trust_remote_code: bool = False
    """Run Python code that comes with the model."""
    attention: Literal["flash_attention_2", "sdpa", "eager"] = "flash_attention_2"
    """The attention implementation of the trainer."""
    remove_padding: bool = True
    """Pack sequences without padding in the trainer; needs flash_attention_2."""
    gradient_checkpointing: bool = True  # FIX(MEM004)
    """Recompute activations in the backward pass instead of keeping them."""
    fused_kernels: bool = False
    """Compute log-probabilities in chunks, so that the whole logits are never held."""
    lora_rank: int = Field(default=0, ge=0)
    """Rank of the LoRA adapter; 0 trains all weights."""
    lora_alpha: float = Field(default=16, gt=0)
    """Scale of the LoRA adapter."""
    lora_targets: tuple[str, ...] = ("all-linear",)
    """Which layers get an adapter."""
