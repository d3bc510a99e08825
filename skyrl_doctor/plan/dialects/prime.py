"""Reads the TOML files of prime-rl's programs: rl, trainer, orchestrator, inference, sft, evals, env-server.

Keys are compared with the program's schema in the version that the file is for. Values are named as those of `rl`, in
today's schema or in that of January 2026.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.dialects.reading import Reading, by_key, default, own_values, renamed, with_key
from skyrl_doctor.plan.model import Value
from skyrl_doctor.plan.names.prime_rl import table
from skyrl_doctor.plan.schemas.classes import ANY
from skyrl_doctor.plan.schemas.dated import history
from skyrl_doctor.plan.schemas.judge import key_problems
from skyrl_doctor.plan.schemas.packages import PRIME
from skyrl_doctor.plan.schemas.versions import Version, known_version, stored_version
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.leaf import Leaf
from skyrl_doctor.plan.syntax.toml import leaves
from skyrl_train.config.dialect import SEED, TODAY, prime_gpus, schema_of

__all__ = ["SEED", "TODAY", "program_of", "read", "read_values"]

RL = "rl"
PART = "prime-rl-part"
"""The dialect of a file for one of the other programs. Checks of a whole run do not apply to it."""
_STEMS = {
    RL: "rl",
    "trainer": "train",
    "orchestrator": "orch",
    "inference": "infer",
    "sft": "sft",
    "evals": "eval",
    "env-server": "env",
    "synthesize": "synth",
}
"""How the files of a program are usually named."""
_NAMED_FOLDERS = 5
"""Parts of a path, from its end, that may name the program."""
_CHANGED = ("rollout.auto_tool_choice",)
"""Settings whose default differs between versions of one schema."""
_ONLY_RL = ("orchestrator", "trainer")
"""Tables of `rl` alone."""
_SOURCE_GROUP = re.compile(r"orchestrator\.train\.source\[\d+\]\.group_size")
_SHARED = ("model.name", "max_steps")
_UNNAMED = frozenset({ANY})


def program_of(machine: Machine, source: Source, found: Sequence[Leaf]) -> str | None:
    """The program whose schema knows most of the file's keys, or None if none knows half of them."""
    keys = [leaf.key for leaf in found if not leaf.is_table or isinstance(leaf.path[-1], int)] or [
        leaf.key for leaf in found
    ]
    if any(leaf.path[0] in _ONLY_RL for leaf in found):
        return RL
    version = known_version(machine, PRIME, source.file)
    counts = [(_unknown(version, program, keys), program) for program in _by_name(source.file)]
    fewest, program = min(counts, key=lambda count: count[0])
    return program if 2 * fewest < len(keys) else None


def _unknown(version: Version | None, program: str, keys: Sequence[str]) -> int:
    """How many keys the program does not name: in the known version, else in all of them together.

    A table that takes any key says nothing about the program.
    """
    known = None if version is None else version.schemas.get(program)
    schema = known or history("prime_rl").union(program)
    return sum(schema.type_of(key) in (None, _UNNAMED) or not schema.names_first(key) for key in keys)


def read(machine: Machine, source: Source, program: str = RL) -> Reading:
    """Values of a prime-rl TOML, the defaults of its schema, and the keys that its program lacks."""
    return read_values(machine, source.file, own_values(leaves(source), source.file), program)


def read_values(machine: Machine, file: str, own: Mapping[str, Value], program: str) -> Reading:
    """The same of the values of a file under their own names, which further files and options may complete."""
    reading = _read_run(own, file) if program == RL else _read_part(own, program)
    version = known_version(machine, PRIME, file)
    if version is None or program not in version.schemas:
        version = stored_version(PRIME, program, list(own))
    problems = tuple(key_problems(PRIME, program, version, own.values()))
    if not version.is_known:
        return dataclasses.replace(reading, problems=problems)
    values = {key: value for key, value in reading.values.items() if value.written or key not in _CHANGED}
    return dataclasses.replace(reading, values=values, problems=problems, schema=version.label)


def _by_name(file: str) -> list[str]:
    """The programs, those first that the file's name or folder begins with."""
    parts = file.lower().removesuffix(".toml").replace("-", "_").split("/")
    names = (parts[-2:], parts[-_NAMED_FOLDERS:])
    return sorted(
        PRIME.classes,
        key=lambda program: [not any(part.startswith(_STEMS[program]) for part in some) for some in names],
    )


def _read_run(own: Mapping[str, Value], file: str) -> Reading:
    dialect = schema_of(own) or TODAY
    facts = table("prime_rl.json" if dialect == TODAY else "prime_rl_2025.json")
    names: Mapping[str, str] = facts["names"]
    source_name = f"default of prime-rl, schema {'of today' if dialect == TODAY else 'of January 2026'}"
    return Reading(
        dialect=dialect,
        values=by_key(
            reversed(list(renamed(own, names))),
            _derived(own, facts, source_name, file),
            (default(names[key], value, own=key, source=source_name) for key, value in facts["defaults"].items()),
        ),
        own=own,
    )


def _read_part(own: Mapping[str, Value], program: str) -> Reading:
    """One program of a run that is started by hand, or another program than `rl`: the values that `rl` would hand to it."""
    names: Mapping[str, str] = table("prime_rl.json")["names"]
    inside = {key.removeprefix(f"{program}."): name for key, name in names.items() if key.startswith(f"{program}.")}
    inside |= {key: name for key, name in names.items() if key in _SHARED}
    return Reading(dialect=PART, values=by_key(renamed(own, inside)), own=own)


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
    yield from _group(own, source_name)
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


def _group(own: Mapping[str, Value], source_name: str) -> Iterator[Value]:
    """Rollouts of a prompt where the run sets none for all sources: those that the sources agree on, else the default of 1."""
    if schema_of(own) not in (TODAY, None):
        return
    sizes = [found for key, found in own.items() if _SOURCE_GROUP.fullmatch(key)]
    sources = own.get("orchestrator.train.source")
    count = len(sources.value) if sources is not None and isinstance(sources.value, list | tuple) else 0
    if not sizes:
        yield default("rollout.n", 1, own="orchestrator.group_size", source=source_name)
    elif len(sizes) == count and all(found.value == sizes[0].value for found in sizes):
        yield with_key(sizes[0], "rollout.n")


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
