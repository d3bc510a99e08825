"""The body of POST /start: its rules, and the type that it is read into. Pure."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from skyrl_train.contracts.sandbox.references import fault_of
from skyrl_train.contracts.sandbox.wire import RESOURCE_FACTORS
from skyrl_train.sandbox.request_rules import NO_NUL, BodyRules, RequestError, Rule, array, mapping, one_of, text

__all__ = ["IMAGE", "SESSION_ID", "START", "RequestError", "StartRequest", "is_session_id", "read_start"]

_LONGEST_COMMAND = 64 << 10
"""Splitting a longer text into words would stop the server for everyone: 1 MB takes 3 s."""
PULL_POLICIES = ("Always", "IfNotPresent", "Never")


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """A session as a client requests it."""

    image: str
    session_id: str
    command: tuple[str, ...] = ()
    working_dir: str = "/"
    environment: Mapping[str, str] = field(default_factory=dict)
    image_pull_policy: str = "IfNotPresent"
    resource_factor: int = 1


def _image_fault(reference: str) -> str | None:
    fault = fault_of(reference)
    return f"{reference[:160]!r} {fault}" if fault else None


_STRING = text("a string without NUL")
_STRINGS = array(_STRING)


def _words(value: object) -> tuple[str, ...]:
    """One string (today) or a list (V0)."""
    if not isinstance(value, str):
        return _STRINGS.parse(value)
    if len(value) > _LONGEST_COMMAND:
        raise ValueError(f"expected at most {_LONGEST_COMMAND} characters, found {len(value)}; send a list of words")
    try:
        return tuple(shlex.split(_STRING.parse(value)))
    except ValueError as error:
        raise ValueError(str(error) and f"cannot be split into words: {error}") from error


IMAGE = text("the name of an image, such as docker.io/library/debian:12", pattern=r"[^\x00]+", check=_image_fault)
SESSION_ID = text(
    "1 to 128 letters, digits, '.', '_' or '-', the first and the last a letter or digit, and no '..'",
    pattern=r"(?!.*\.\.)[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?",
)
"""Used in names of directories, labels and routes."""
_COMMAND: Rule[tuple[str, ...]] = Rule(
    "a string or a list of strings", {"anyOf": [_STRING.schema, _STRINGS.schema]}, _words
)
_VARIABLE = text("the name of an environment variable", pattern=r"[A-Za-z_][A-Za-z0-9_]*")
_WORKING_DIR = text("an absolute path without '..'", pattern=rf"(?!{NO_NUL}/\.\.(?![^/]))/{NO_NUL}")
START = BodyRules(
    required={"image": IMAGE, "session_id": SESSION_ID},
    optional={
        "command": _COMMAND,
        "working_dir": _WORKING_DIR,
        "environment": mapping(_VARIABLE, _STRING),
        "image_pull_policy": one_of(PULL_POLICIES),
        "resource_factor": one_of(RESOURCE_FACTORS),
    },
    ignored={
        "run_as_user": "clients send a constant that names no user of the image (IMG007).",
        "fs_group": "as run_as_user.",
        "runtime_class": "for clusters of another kind.",
    },
)


def is_session_id(value: str) -> bool:
    return SESSION_ID.allows(value)


def read_start(body: object) -> StartRequest:
    """Raises RequestError."""
    return StartRequest(**START.read(body))
