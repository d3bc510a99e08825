"""Writes defaults/verl_releases.jsonl from wheels: `python -m skyrl_doctor.plan.dialects.verl.collect_releases WHEEL…`.

`make tables` downloads the wheels first. verl is never imported.
"""

import json
import re
import sys
import zipfile
from collections.abc import Iterable
from typing import Any

from skyrl_doctor.plan.dialects.verl.releases import FILE
from skyrl_doctor.plan.dialects.verl.tree import hydra_main
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.hydra_defaults import Config
from skyrl_doctor.plan.syntax.yaml import tree

_WHEEL = re.compile(r"verl-(?P<version>[\w.]+)-[\w.]+-none-any\.whl")
_CONFIG = re.compile(r"verl/(?:.*/)?config/.*\.yaml")
_GENERATED = "_generated_"
"""verl also ships its composed trees, which the doctor composes itself."""


def table(wheels: Iterable[str]) -> str:
    """The text of the file for these wheels."""
    lines: dict[str, int] = {}
    releases: dict[str, Any] = {}
    for version, wheel in sorted(((_version(wheel), wheel) for wheel in wheels), key=_order, reverse=True):
        with zipfile.ZipFile(wheel) as opened:
            releases[version] = _release(opened, lines)
    return "\n".join([json.dumps({"package": "verl", "releases": releases}), *lines]) + "\n"


def _release(wheel: zipfile.ZipFile, lines: dict[str, int]) -> dict[str, Any]:
    files: dict[str, int] = {}
    entries: dict[str, tuple[str, str]] = {}
    for name in sorted(wheel.namelist()):
        if _CONFIG.fullmatch(name) and _GENERATED not in name:
            text = wheel.read(name).decode("utf-8")
            if not text.strip():
                continue
            config = Config.of(text, tree(Source(name, text)))
            line = json.dumps([config.package, list(config.defaults), config.body])
            files[name.removesuffix(".yaml")] = lines.setdefault(line, len(lines) + 1)
        elif name.startswith("verl/") and name.endswith(".py"):
            found = hydra_main(wheel.read(name).decode("utf-8"), name.rpartition("/")[0])
            if found is not None:
                entries[name.removesuffix(".py").replace("/", ".")] = (found.folder, found.name)
    return {"files": files, "entries": entries}


def _version(wheel: str) -> str:
    found = _WHEEL.fullmatch(wheel.rpartition("/")[2])
    if found is None:
        raise SystemExit(f"{wheel}: expected the name of a wheel of verl")
    return found["version"]


def _order(item: tuple[str, str]) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", item[0])]


if __name__ == "__main__":
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(table(sys.argv[1:]))
