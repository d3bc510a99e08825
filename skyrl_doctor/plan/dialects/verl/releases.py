"""The configuration trees of verl's releases on the package index, stored in defaults/verl_releases.jsonl.

The first line is the index; each further line is one file: package, defaults list, values. Releases share lines.
`python -m skyrl_doctor.plan.dialects.verl.collect_releases WHEEL…` writes the file. A line is parsed when it is needed.
"""

import functools
import json
import os
from collections.abc import Mapping
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.dialects.verl.tree import Entry
from skyrl_doctor.plan.syntax.hydra_defaults import Config

FILE = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "defaults", "verl_releases.jsonl"
)


@record
class Release:
    """The files of one release: a Files of tree.py."""

    version: str
    files: Mapping[str, int]
    entries: Mapping[str, tuple[str, str]]

    def load(self, path: str) -> Config | None:
        line = self.files.get(path)
        return None if line is None else _config(line)

    def has_folder(self, path: str) -> bool:
        return any(name.startswith(f"{path}/") for name in self.files)

    def entry(self, module: str) -> Entry | None:
        found = self.entries.get(module)
        return None if found is None else Entry(*found)


@functools.cache
def releases() -> tuple[Release, ...]:
    """Every release, the newest first."""
    index: dict[str, Any] = json.loads(_lines()[0])
    return tuple(
        Release(version, found["files"], {name: tuple(entry) for name, entry in found["entries"].items()})
        for version, found in index["releases"].items()
    )


def release(version: str) -> Release | None:
    """The release of this version, or None."""
    return next((found for found in releases() if found.version == version), None)


@functools.cache
def _lines() -> tuple[str, ...]:
    with open(FILE, encoding="utf-8") as file:
        return tuple(file.read().splitlines())


@functools.cache
def _config(line: int) -> Config:
    package, defaults, body = json.loads(_lines()[line])
    return Config(package, tuple(defaults), body)
