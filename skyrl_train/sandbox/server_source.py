"""The source of the real agent server (`sandbox.agent_server`), recognised by its files. Reads names only."""

import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from skyrl_train.contracts.errors import TrainError, UsageError
from skyrl_train.contracts.sandbox.agent_server import BINARY, SOURCE
from skyrl_train.sandbox.mounted_python import ask_python

DISTRIBUTION = "openhands_agent_server"
OLDEST_PYTHON = (3, 12)
"""The oldest Python for the agent server's packages."""
INDEX, MANIFEST = "index", "agent-server.json"
_WHEEL = re.compile(r"([A-Za-z0-9_.]+)-([^-]+)(?:-\d[^-]*)?-([^-]+)-([^-]+)-([^-]+)\.whl")
_KINDS = (
    "a directory from `skyrl-train images server`, a virtual environment with openhands-agent-server, a directory of "
    f"wheels, a directory with {BINARY.lstrip('/')}, the released program, or {INDEX!r} for pip's package index"
)


class Kind(StrEnum):
    VENV = "venv"
    WHEELS = "wheels"
    INDEX = "index"
    CONTEXT = "context"
    """A directory with the files of an image at their paths."""
    BUNDLE = "bundle"
    """Made by `skyrl-train images server` from one of the others."""
    PROGRAM = "program"
    """The released program, one file: built for a C library of its time (IMG008)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSource:
    kind: Kind
    path: str
    version: str


def source_of(given: str, *, version: str) -> ServerSource:
    """Raises UsageError if there is no agent server. `version`: used if the source does not have its own."""
    if given == INDEX:
        return ServerSource(kind=Kind.INDEX, path="", version=version)
    path = os.path.abspath(given)
    if os.path.isfile(path) and _starts_with(path, b"\x7fELF"):
        return ServerSource(kind=Kind.PROGRAM, path=path, version=version)
    if os.path.isfile(f"{path}/{MANIFEST}"):
        return ServerSource(kind=Kind.BUNDLE, path=path, version=version)
    if os.path.isfile(f"{path}/pyvenv.cfg"):
        return ServerSource(kind=Kind.VENV, path=path, version=version)
    if os.path.isdir(path) and any(os.path.exists(path + place) for place in (BINARY, os.path.dirname(SOURCE))):
        return ServerSource(kind=Kind.CONTEXT, path=path, version=version)
    names = os.listdir(path) if os.path.isdir(path) else []
    found = sorted(_versions(names), key=_order)
    if found:
        return ServerSource(kind=Kind.WHEELS, path=path, version=found[-1])
    there = "no such path" if not os.path.exists(path) else "no agent server found"
    raise UsageError(f"sandbox.agent_server = {given!r}: {there}; expected {_KINDS}")


def python_for(source: ServerSource) -> str:
    """A Python that is new enough and fits the wheels. Raises UsageError."""
    if source.kind is Kind.VENV:
        return f"{source.path}/bin/python"
    tags = {tag for match in _wheels(source) for tag in match[3].split(".") if match[4] != "abi3"}
    minors = range(OLDEST_PYTHON[1], 20)
    named = [shutil.which(f"python3.{minor}") for minor in minors]
    usable = [path for path in (sys.executable, *named) if path and _version_of(path) >= OLDEST_PYTHON]
    wanted = [path for path in usable if "cp{}{}".format(*_version_of(path)) in tags]
    for path in (*wanted, *usable):
        return path
    have = ".".join(map(str, sys.version_info[:3]))
    raise UsageError(
        f"sandbox.agent_server = {source.path or INDEX!r} needs Python {'.'.join(map(str, OLDEST_PYTHON))} or newer to "
        f"install it; this is {have}, and no newer one is on PATH; use a virtual environment with openhands-agent-server instead"
    )


def installed_version(site: Path) -> str | None:
    """The version of the agent server in a directory of packages."""
    for found in site.glob(f"{DISTRIBUTION}-*.dist-info"):
        return found.name.removesuffix(".dist-info").partition("-")[2]
    return None


def _version_of(python: str) -> tuple[int, ...]:
    """Empty if it does not run, such as a shim of a tool that is not set up."""
    try:
        return tuple(int(part) for part in ask_python(python)[2].split(".")[:2])
    except (TrainError, ValueError):
        return ()


def _wheels(source: ServerSource) -> list["re.Match[str]"]:
    names = os.listdir(source.path) if source.kind is Kind.WHEELS else []
    return [match for name in names if (match := _WHEEL.fullmatch(name))]


def _versions(names: Sequence[str]) -> list[str]:
    matches = (_WHEEL.fullmatch(name) for name in names)
    return [match[2] for match in matches if match and match[1].lower().replace(".", "_") == DISTRIBUTION]


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _starts_with(path: str, magic: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(magic)) == magic
    except OSError:
        return False
