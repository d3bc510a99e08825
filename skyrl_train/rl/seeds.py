"""Settings and seeds for `trainer.deterministic`, which makes runs with the same seed equal. Pure."""

import hashlib

from skyrl_train.config.run import RunConfig

Words = dict[str, bool | int | float | str | None]


def reply_seed(run: int, *, step: int, row: int, sample: int, call: int) -> int:
    """The seed of one model call. It does not depend on the order of calls or on the batch.

    The samples of a prompt and the calls of a rollout get different seeds, or a group would have nothing to compare.
    """
    words = f"{run}/{step}/{row}/{sample}/{call}"
    return int.from_bytes(hashlib.sha256(words.encode()).digest()[:8], "big") >> 1  # torch expects a signed number


def workers(config: RunConfig) -> dict[str, str]:
    """Variables for all of Ray's workers, as verl's main program sets them."""
    if not config.trainer.deterministic:
        return {}
    invariant = {"VERL_FULL_DETERMINISM": "1", "VLLM_BATCH_INVARIANT": "1"} if shares_batches(config) else {}
    return {"PYTHONHASHSEED": str(config.trainer.seed % 2**32), **invariant}


def shares_batches(config: RunConfig) -> bool:
    """Whether vLLM may process several sequences at once.

    Equal tokens then need its batch-invariant kernels, which only some GPUs support; on a CPU the engine crashes.
    """
    return config.rollout.max_sequences > 1


def words(config: RunConfig, *, rollout: str, actor: str) -> Words:
    """Overrides for verl. Prefix caching is off, since the cache depends on the order of requests."""
    if not config.trainer.deterministic:
        return {}
    return {
        f"{rollout}.full_determinism": shares_batches(config),
        f"{rollout}.enable_prefix_caching": False,
        f"{actor}.fsdp_config.full_determinism": True,
        "actor_rollout_ref.ref.fsdp_config.full_determinism": True,
        **({"critic.fsdp.full_determinism": True} if config.needs_critic else {}),
    }
