"""Where the real agent server comes from (`sandbox.agent_server`), told apart by what stands there. Reads names only."""

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
"""Of the agent server's packages."""
INDEX, MANIFEST = "index", "agent-server.json"
_WHEEL = re.compile(r"([A-Za-z0-9_.]+)-([^-]+)(?:-\d[^-]*)?-([^-]+)-([^-]+)-([^-]+)\.whl")
_KINDS = (
    "what `skyrl-train images server` made, a virtual environment that has openhands-agent-server, a directory of wheels, "
    f"a directory that holds {BINARY.lstrip('/')}, the released program itself, or {INDEX!r} for the package index that pip uses"
)


class Kind(StrEnum):
    VENV = "venv"
    WHEELS = "wheels"
    INDEX, MANIFEST = "index", "agent-server.json"
    CONTEXT = "context"
    """A directory with the files of an image, in their places."""
    BUNDLE = "bundle"
    """What `skyrl-train images server` made of one of the others."""
    PROGRAM = "program"
    """The released program, one file: built for a C library of its time (IMG008)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSource:
    kind: Kind
    path: str
    version: str


def source_of(given: str, *, version: str) -> ServerSource:
    """Raises UsageError where nothing of the kind stands there. `version`: where it does not say itself."""
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
    there = "no such path" if not os.path.exists(path) else "nothing of the kind is there"
    raise UsageError(f"sandbox.agent_server = {given!r}: {there}; wanted {_KINDS}")


def python_for(source: ServerSource) -> str:
    """A Python that is new enough, and that the wheels were made for. Raises UsageError."""
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
        f"install it with; this is {have}, and no newer one is on PATH; name a virtual environment that has it instead"
    )


def installed_version(site: Path) -> str | None:
    """Of the agent server below a directory of packages."""
    for found in site.glob(f"{DISTRIBUTION}-*.dist-info"):
        return found.name.removesuffix(".dist-info").partition("-")[2]
    return None


def _version_of(python: str) -> tuple[int, ...]:
    """No version where it does not run, as a shim of a tool that is not set up."""
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
