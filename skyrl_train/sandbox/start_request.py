"""The body of POST /start, read once at the edge into a type. Pure."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.references import fault_of
from skyrl_train.contracts.sandbox.wire import RESOURCE_FACTORS

PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_SESSION_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class RequestError(TrainError):
    """A body that cannot be used; `field` is what is wrong with it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """A session as a client asks for it. `run_as_user`, `fs_group` and `runtime_class` are for clusters of another
    kind: clients send constants for them, which name no user of the image (IMG007)."""

    image: str
    session_id: str
    command: tuple[str, ...] = ()
    working_dir: str = "/"
    environment: Mapping[str, str]
    image_pull_policy: str = "IfNotPresent"
    resource_factor: int = 1


def is_session_id(text: str) -> bool:
    """Ids name directories, labels and routes: letters, digits, dot, dash and underscore only, and no dots alone."""
    return _SESSION_ID.fullmatch(text) is not None and ".." not in text


def read_start(body: object) -> StartRequest:
    """Raises RequestError. Keys that are not known are left out of account: clients of other versions send some."""
    if not isinstance(body, Mapping):
        raise RequestError("body", f"wanted a JSON object, found {type(body).__name__}")
    image = _text(body, "image")
    fault = fault_of(image)
    if fault:
        raise RequestError("image", f"{image[:160]!r} {fault}")
    session_id = _text(body, "session_id")
    if not is_session_id(session_id):
        raise RequestError("session_id", f"{session_id[:80]!r} must be 1 to 128 letters, digits, '.', '_' or '-'")
    return StartRequest(
        image=image,
        session_id=session_id,
        command=_command(body.get("command")),
        working_dir=_working_dir(body.get("working_dir")),
        environment=_environment(body.get("environment")),
        image_pull_policy=_policy(body.get("image_pull_policy")),
        resource_factor=_factor(body.get("resource_factor")),
    )


def _text(body: Mapping[object, object], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not value:
        raise RequestError(key, f"wanted a string that is not empty, found {_found(value)}")
    return value


def _command(value: object) -> tuple[str, ...]:
    """One string (today) or a list (V0)."""
    if value is None:
        return ()
    if isinstance(value, list) and all(isinstance(word, str) and "\0" not in word for word in value):
        return tuple(value)
    if not isinstance(value, str) or "\0" in value:
        raise RequestError("command", f"wanted a string or a list of strings, found {_found(value)}")
    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        raise RequestError("command", f"cannot be split into words: {error}") from error


def _working_dir(value: object) -> str:
    if value is None:
        return "/"
    if not isinstance(value, str) or not value.startswith("/") or "\0" in value or ".." in value.split("/"):
        raise RequestError("working_dir", f"wanted an absolute path without '..', found {_found(value)}")
    return value


def _environment(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise RequestError("environment", f"wanted an object of strings, found {_found(value)}")
    for name, text in value.items():
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            raise RequestError("environment", f"{name!r:.80} is not the name of a variable")
        if not isinstance(text, str) or "\0" in text:
            raise RequestError("environment", f"{name} must be a string without NUL, found {type(text).__name__}")
    return dict(value)


def _policy(value: object) -> str:
    if value is None:
        return "IfNotPresent"
    if value not in PULL_POLICIES:
        raise RequestError("image_pull_policy", f"wanted one of {', '.join(PULL_POLICIES)}, found {_found(value)}")
    return str(value)


def _factor(value: object) -> int:
    if value is None:
        return 1
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in RESOURCE_FACTORS:
        raise RequestError("resource_factor", f"wanted 1, 2, 4 or 8, found {_found(value)}")
    return int(value)


def _found(value: object) -> str:
    return "nothing" if value is None else f"{value!r:.80}"
