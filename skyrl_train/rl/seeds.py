"""What makes two runs of one seed equal, where `trainer.deterministic` asks for it. Pure."""

import hashlib

from skyrl_train.config.run import RunConfig

Words = dict[str, bool | int | float | str | None]


def reply_seed(run: int, *, step: int, row: int, sample: int, call: int) -> int:
    """For one call of the model: neither the order in which calls arrive nor who shares their batch is in it.

    Samples of one prompt must differ, or a group has nothing to compare; so must the calls of one rollout.
    """
    words = f"{run}/{step}/{row}/{sample}/{call}"
    return int.from_bytes(hashlib.sha256(words.encode()).digest()[:8], "big") >> 1  # as torch takes it: a signed number


def workers(config: RunConfig) -> dict[str, str]:
    """For the environment of all of Ray's workers; verl's main program, which is not ours, sets the same."""
    if not config.trainer.deterministic:
        return {}
    invariant = {"VERL_FULL_DETERMINISM": "1", "VLLM_BATCH_INVARIANT": "1"} if shares_batches(config) else {}
    return {"PYTHONHASHSEED": str(config.trainer.seed % 2**32), **invariant}


def shares_batches(config: RunConfig) -> bool:
    """Whether vLLM may work on several sequences at once. Then the same tokens are only written with its batch-invariant
    kernels, which some GPUs have and no CPU: there, the engine dies of them. A sequence alone needs none."""
    return config.rollout.max_sequences > 1


def words(config: RunConfig, *, rollout: str, actor: str) -> Words:
    """Of verl. A cached prefix is left out since what is cached hangs on who came first."""
    if not config.trainer.deterministic:
        return {}
    return {
        f"{rollout}.full_determinism": shares_batches(config),
        f"{rollout}.enable_prefix_caching": False,
        f"{actor}.fsdp_config.full_determinism": True,
        "actor_rollout_ref.ref.fsdp_config.full_determinism": True,
        **({"critic.fsdp.full_determinism": True} if config.needs_critic else {}),
    }
