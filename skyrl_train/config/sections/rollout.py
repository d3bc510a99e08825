"""[rollout]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class RolloutSection(Section):
    """The model server (vLLM) of the rollouts, and its sampling."""

    n: int = Field(default=2, ge=1)
    """Rollouts for each prompt."""
    max_model_len: int = Field(default=4096, ge=1)
    """Context length of vLLM in tokens: prompt and response together."""
    max_tokens: int = Field(default=1024, ge=1)
    """Most tokens that one model call may generate."""
    temperature: float = Field(default=1.0, ge=0)
    """Sampling temperature."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Nucleus sampling; 1 samples from all tokens."""
    top_k: int = Field(default=-1, ge=-1)
    """Sample from the k most likely tokens; -1 samples from all."""
    stop: tuple[str, ...] = ("</function>",)
    """Texts that end a model call."""
    keep_stop: bool = True
    """Keep the stop text in the response; the parser of function calls needs it."""
    gpu_memory_utilization: float = Field(default=0.5, gt=0, le=1)
    """Share of the GPU memory that vLLM uses, weights and cache together."""
    free_cache_engine: bool = True
    """Let vLLM sleep during the update, so that the trainer can use its memory."""
    enforce_eager: bool = True
    """Run vLLM without CUDA graphs: less memory, but slower decoding, most of all for a small model."""
    tensor_parallel_size: int = Field(default=1, ge=1)
    """GPUs that share one model server."""
    max_sequences: int = Field(default=64, ge=1)
    """Most sequences that vLLM processes at the same time."""
    max_batched_tokens: int = Field(default=8192, ge=1)
    """Most tokens in one step of vLLM."""
    prefix_caching: bool = True
    """Keep the cache of common prefixes between calls."""
    chunked_prefill: bool = True
    """Process long prompts in chunks."""
    load_format: Literal["dummy", "auto", "safetensors"] = "dummy"
    """How vLLM loads its first weights; dummy starts with random weights, which the trainer's replace."""
    log_prob_micro_batch_size_per_gpu: int = Field(default=1, ge=1)
    """Sequences in one pass when log-probabilities are recomputed."""
    agent_workers: int = Field(default=1, ge=1)
    """Processes that run agent loops."""
    auto_tool_choice: bool = False
    """Let vLLM parse tool calls; not needed for the XML calls of our agent."""
    tool_call_parser: str | None = None
    """vLLM's parser of tool calls; used if auto_tool_choice is on."""
