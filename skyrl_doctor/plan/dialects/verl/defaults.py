"""verl's defaults: those of the installed verl if the plan's interpreter has one, else the shipped ones.

`python -m skyrl_doctor.plan.dialects.verl.defaults UNPACKED_WHEEL OUT` writes the shipped files. verl is never imported.
"""

import functools
import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.yaml import leaves

ENGINES = {
    "dp": "_generated_ppo_trainer.yaml",
    "megatron": "_generated_ppo_megatron_trainer.yaml",
    "veomni": "_generated_ppo_veomni_trainer.yaml",
    "torchtitan": "_generated_ppo_torchtitan_trainer.yaml",
}
CONFIG = "verl/trainer/config"
SHIPPED = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "defaults")
_VERSION = re.compile(r"verl-(?P<version>\d[\w.]*)\.dist-info")


@record
class Defaults:
    """Raw values by dotted key, with interpolations. An empty table is {}."""

    values: Mapping[str, Any]
    source: str


@functools.cache
def shipped(engine: str) -> Defaults:
    """The defaults that are shipped with the doctor."""
    with open(os.path.join(SHIPPED, f"verl_{engine}.json"), encoding="utf-8") as file:
        made = json.load(file)
    return Defaults(made["values"], f"default of verl {made['version']}")


def installed(machine: Machine, interpreter: str | None, engine: str) -> Defaults | None:
    """The defaults of the verl that is installed for this interpreter, or None."""
    if interpreter is None or "/" not in interpreter:
        return None
    library = f"{interpreter.rpartition('/')[0].rpartition('/')[0]}/lib"
    try:
        pythons = [name for name in machine.listdir(library) if name.startswith("python3.")]
        for python in pythons:
            packages = f"{library}/{python}/site-packages"
            version = next(
                (found["version"] for name in machine.listdir(packages) if (found := _VERSION.match(name))), None
            )
            if version is not None:
                path = f"{packages}/{CONFIG}/{ENGINES[engine]}"
                return Defaults(flat(Source(path, machine.read(path))), f"default of the installed verl {version}")
    except (CouldNotLook, UsageError):
        return None  # then the shipped ones are used
    return None


def flat(source: Source) -> dict[str, Any]:
    """A generated configuration by dotted key."""
    found = leaves(source)
    values = {leaf.key: leaf.value for leaf in found if not leaf.is_table}
    parents = {key[:at] for key in values for at in range(len(key)) if key[at] == "."}
    values.update((leaf.key, {}) for leaf in found if leaf.is_table and leaf.key not in parents)
    return values


def _ship(wheel: str, out: str) -> None:
    version = next(found["version"] for name in os.listdir(wheel) if (found := _VERSION.match(name)))
    for engine, name in ENGINES.items():
        with open(os.path.join(wheel, CONFIG, name), encoding="utf-8") as file:
            values = flat(Source(name, file.read()))
        made = {"package": "verl", "version": version, "file": f"{CONFIG}/{name}", "values": values}
        with open(os.path.join(out, f"verl_{engine}.json"), "w", encoding="utf-8") as file:
            file.write(json.dumps(made, indent=0) + "\n")


if __name__ == "__main__":
    _ship(sys.argv[1], sys.argv[2])
