"""Recognises a TOML by its keys: a RunConfig, or prime-rl's of today or of January 2026. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

TODAY = "prime-rl"
SEED = "prime-rl-2025"
WITH_AGENTS = ("run-config", "skyrl-agent")
"""The dialects whose rollouts are agents in sandboxes."""
PRIME_NODE_GPUS = 8
"""Default of deployment.gpus_per_node."""
OUR_TABLES = frozenset({"slurm", "rollout", "actor", "agent", "data", "sandbox", "algorithm"})
_ONLY_TODAY = ("deployment", "orchestrator.group_size", "orchestrator.train", "inference.vllm", "monitors", "resume")
_ONLY_SEED = (
    "inference_gpu_ids",
    "trainer_gpu_ids",
    "orchestrator.rollouts_per_example",
    "orchestrator.sampling",
    "orchestrator.buffer",
    "orchestrator.env",
    "inference.model",
    "inference.gpu_memory_utilization",
    "trainer.model.experimental",
    "wandb",
)
_EITHER = ("orchestrator", "trainer.model", "inference")


def prime_schema(table: Mapping[str, Any]) -> str | None:
    """The prime-rl schema of the table, or None if it is not prime-rl's.

    `model.path` is ours and `model.name` prime-rl's; today's prime-rl has a [slurm] table too.
    """
    named = table["model"] if isinstance(table.get("model"), Mapping) else {}
    is_ours = bool(OUR_TABLES & set(table)) and "orchestrator" not in table
    return None if "path" in named or is_ours else schema_of(dotted_keys(table))


def schema_of(keys: Iterable[str]) -> str | None:
    """The prime-rl schema of these dotted keys, or None if they are not prime-rl's."""
    known = set(keys)
    if known & set(_ONLY_TODAY):
        return TODAY
    if known & set(_ONLY_SEED):
        return SEED
    return TODAY if known & set(_EITHER) else None


def prime_gpus(*, written: int | None, in_slurm: bool, inference: int, trainer: int) -> int:
    """The number of GPUs on the node of a prime-rl run.

    With [slurm], its batch job gets `deployment.gpus_per_node` whatever it uses. Without, its launcher uses as many of the
    visible GPUs as inference and trainer need.
    """
    if written is not None:
        return written
    return PRIME_NODE_GPUS if in_slurm else inference + trainer


def dotted_keys(table: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Every dotted key of a table, tables included."""
    for name, value in table.items():
        yield prefix + name
        if isinstance(value, Mapping):
            yield from dotted_keys(value, f"{prefix}{name}.")
