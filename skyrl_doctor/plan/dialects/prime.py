"""Reads prime-rl's TOML in today's schema and in that of January 2026."""

import functools
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.dialects.reading import Reading, by_key, default, own_values, renamed
from skyrl_doctor.plan.model import Value
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.toml import leaves
from skyrl_train.config.dialect import SEED, TODAY, prime_gpus, schema_of

__all__ = ["SEED", "TODAY", "read", "table"]

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "defaults")


@functools.cache
def table(name: str) -> Mapping[str, Any]:
    """A shipped JSON table of names, defaults or renames, with its source and date."""
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        found: Mapping[str, Any] = json.load(file)
    return found


def read(source: Source) -> Reading:
    """Values of a prime-rl TOML and the defaults of its schema."""
    own = own_values(leaves(source), source.file)
    dialect = schema_of(own) or TODAY
    facts = table("prime_rl.json" if dialect == TODAY else "prime_rl_2025.json")
    names: Mapping[str, str] = facts["names"]
    source_name = f"default of prime-rl, schema {'of today' if dialect == TODAY else 'of January 2026'}"
    return Reading(
        dialect=dialect,
        values=by_key(
            reversed(list(renamed(own, names))),
            _derived(own, facts, source_name, source.file),
            (default(names[key], value, own=key, source=source_name) for key, value in facts["defaults"].items()),
        ),
        own=own,
    )


def _derived(own: Mapping[str, Value], facts: Mapping[str, Any], source_name: str, file: str) -> Iterator[Value]:
    checkpointing = own.get("trainer.model.ac")
    if checkpointing is None:
        yield default(
            "model.gradient_checkpointing", facts["checkpointing_default"], own="trainer.model.ac", source=source_name
        )
    elif isinstance(checkpointing.value, dict):
        yield _like(checkpointing, "model.gradient_checkpointing", made=True)
    wandb = own.get("monitors.wandb") or own.get("wandb")
    if wandb is not None:
        yield _like(wandb, "trainer.logger", made=["wandb"])
    yield from _gpus(own, source_name)
    ids = [own[key] for key in ("inference_gpu_ids", "trainer_gpu_ids") if key in own]
    devices = {item for value in ids if isinstance(value.value, list) for item in value.value if isinstance(item, int)}
    if devices:
        yield Value(
            "slurm.gpus_per_node",
            len(devices),
            Location(file, ids[0].location.line if ids[0].location else None, ids[0].own),
            own=ids[0].own,
        )


def _gpus(own: Mapping[str, Value], source_name: str) -> Iterator[Value]:
    """Default numbers of GPUs in today's schema. Without [inference] the launcher uses none for inference."""
    if schema_of(own) != TODAY:
        return
    tables = {key.split(".")[0] for key in own}
    asked = [own[key].value if key in own else 1 for key in ("deployment.num_infer_gpus", "deployment.num_train_gpus")]
    inference, trainer = (count if isinstance(count, int) else 1 for count in asked)
    made = prime_gpus(
        written=None, in_slurm="slurm" in tables, inference=inference if "inference" in tables else 0, trainer=trainer
    )
    if "deployment.gpus_per_node" not in own:
        yield default("slurm.gpus_per_node", made, own="deployment.gpus_per_node", source=source_name)
    if "inference" not in tables and "deployment.num_infer_gpus" not in own:
        yield default("deployment.inference_gpus", 0, own="deployment.num_infer_gpus", source=source_name)


def _like(value: Value, key: str, *, made: object) -> Value:
    return Value(key, made, value.location, own=value.own, span=value.span)
