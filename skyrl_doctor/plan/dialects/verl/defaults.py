"""The defaults of main_ppo of the verl that our trainer is written for."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.dialects.verl.releases import releases
from skyrl_doctor.plan.dialects.verl.tree import Search
from skyrl_doctor.plan.syntax.hydra_defaults import Choice, compose

ENGINES = ("dp", "megatron", "veomni", "torchtitan")
MAIN = "verl.trainer.main_ppo"
TRAINER_VERSION = "0.9.1"
"""The release that requirements/ pins."""


@record
class Defaults:
    """Raw values by dotted key, with interpolations. An empty table is {}."""

    values: Mapping[str, Any]
    source: str


@functools.cache
def shipped(engine: str) -> Defaults:
    """The defaults with this training engine."""
    found = next(one for one in releases() if one.version == TRAINER_VERSION)
    entry = found.entries[MAIN]
    made = compose(Search(((found, entry[0]),)), entry[1], [Choice("model_engine", engine)])
    return Defaults(dict(flat(made.tree)), f"default of verl {TRAINER_VERSION}")


def is_default(key: str, value: object) -> bool:
    """Whether main_ppo has this value for the key by itself, in the newest release that has a value for it."""
    for release in releases():
        entry = release.entries.get(MAIN)
        default = _of_release(release.version).get(key) if entry else None
        if default is not None:
            return bool(default == value)
    return False


@functools.cache
def _of_release(version: str) -> Mapping[str, Any]:
    found = next(one for one in releases() if one.version == version)
    folder, name = found.entries[MAIN]
    return dict(flat(compose(Search(((found, folder),)), name, []).tree))


def flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested tables by dotted key."""
    for name, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
