"""[rollout]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class RolloutSection(Section):
    """The model server (vLLM) that writes trajectories, and how it samples."""

    n: int = Field(default=2, ge=1)
    """Trajectories for each prompt."""
    max_model_len: int = Field(default=4096, ge=1)
    """Tokens of context that vLLM keeps room for: prompt and response together."""
    max_tokens: int = Field(default=1024, ge=1)
    """Most tokens that one model call may generate."""
    temperature: float = Field(default=1.0, ge=0)
    """Sampling temperature."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Nucleus sampling; 1 samples from all tokens."""
    top_k: int = Field(default=-1, ge=-1)
    """Sample from the k likeliest tokens; -1 from all."""
    stop: tuple[str, ...] = ("</function>",)
    """Texts that end a model call."""
    keep_stop: bool = True
    """Keep the stop text in the response, as the parser of function calls needs it."""
    gpu_memory_utilization: float = Field(default=0.5, gt=0, le=1)
    """Share of the device's memory that vLLM takes, weights and cache together."""
    free_cache_engine: bool = True
    """Let vLLM sleep during the update, so that its memory is the trainer's."""
    enforce_eager: bool = True
    """Run vLLM without CUDA graphs: a small model decodes at a sixth of the speed, and has 0.3 GiB more."""
    tensor_parallel_size: int = Field(default=1, ge=1)
    """GPUs that share one model server."""
    max_sequences: int = Field(default=64, ge=1)
    """Most sequences that vLLM works on at once."""
    max_batched_tokens: int = Field(default=8192, ge=1)
    """Most tokens in one step of vLLM."""
    prefix_caching: bool = True
    """Keep the cache of common prefixes between calls."""
    chunked_prefill: bool = True
    """Read long prompts in parts."""
    load_format: Literal["dummy", "auto", "safetensors"] = "dummy"
    """Where vLLM gets its first weights from; dummy waits for the trainer's."""
    log_prob_micro_batch_size_per_gpu: int = Field(default=1, ge=1)
    """Sequences at once when log-probabilities are computed again."""
    agent_workers: int = Field(default=1, ge=1)
    """Processes that run agent loops."""
    auto_tool_choice: bool = False
    """Let vLLM itself parse tool calls; the XML calls of the agent do not need it."""
    tool_call_parser: str | None = None
    """Which parser vLLM uses where auto_tool_choice is on."""
