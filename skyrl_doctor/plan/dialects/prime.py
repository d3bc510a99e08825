"""prime-rl's TOML: today's schema, and the one of January 2026, told apart by the keys that only one of them has."""

import functools
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.dialects.reading import Reading, by_key, default, own_values, renamed
from skyrl_doctor.plan.model import Value
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.toml import leaves

TODAY = "prime-rl"
SEED = "prime-rl-2025"
DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "defaults")
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


@functools.cache
def table(name: str) -> Mapping[str, Any]:
    """One of the shipped tables of facts: names, defaults, renames, each with its source and date."""
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        found: Mapping[str, Any] = json.load(file)
    return found


def schema_of(keys: Iterable[str]) -> str | None:
    """Which schema these dotted keys are written in; None where they are not prime-rl's at all."""
    known = set(keys)
    if known & set(_ONLY_TODAY):
        return TODAY
    if known & set(_ONLY_SEED):
        return SEED
    return TODAY if known & set(_EITHER) else None


def read(source: Source) -> Reading:
    """Values of a prime-rl TOML, with the defaults of its schema."""
    own = own_values(leaves(source), source.file)
    dialect = schema_of(own) or TODAY
    facts = table("prime_rl.json" if dialect == TODAY else "prime_rl_2025.json")
    names: Mapping[str, str] = facts["names"]
    whose = f"default of prime-rl, schema {'of today' if dialect == TODAY else 'of January 2026'}"
    return Reading(
        dialect=dialect,
        values=by_key(
            reversed(list(renamed(own, names))),
            _derived(own, facts, whose, source.file),
            (default(names[key], value, own=key, source=whose) for key, value in facts["defaults"].items()),
        ),
        own=own,
    )


def _derived(own: Mapping[str, Value], facts: Mapping[str, Any], whose: str, file: str) -> Iterator[Value]:
    checkpointing = own.get("trainer.model.ac")
    if checkpointing is None:
        yield default(
            "model.gradient_checkpointing", facts["checkpointing_default"], own="trainer.model.ac", source=whose
        )
    elif isinstance(checkpointing.value, dict):
        yield _like(checkpointing, "model.gradient_checkpointing", made=True)
    wandb = own.get("monitors.wandb") or own.get("wandb")
    if wandb is not None:
        yield _like(wandb, "trainer.logger", made=["wandb"])
    ids = [own[key] for key in ("inference_gpu_ids", "trainer_gpu_ids") if key in own]
    devices = {item for value in ids if isinstance(value.value, list) for item in value.value if isinstance(item, int)}
    if devices:
        yield Value(
            "slurm.gpus_per_node",
            len(devices),
            Location(file, ids[0].location.line if ids[0].location else None, ids[0].own),
            own=ids[0].own,
        )


def _like(value: Value, key: str, *, made: object) -> Value:
    return Value(key, made, value.location, own=value.own, span=value.span)
