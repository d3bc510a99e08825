"""How an agent server gets into an image: the mounts, and the command that replaces the image's own. Pure.

The command line is always complete and the image's entry point is never run: if the agent server were the entry point,
it would start twice (IMG004).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.agent_server import BINARY
from skyrl_train.contracts.sandbox.glibc import System
from skyrl_train.contracts.sandbox.image_user import user_of
from skyrl_train.contracts.sandbox.wire import AGENT_PORT, ALLOCATOR, SESSION_KEY_VARIABLES

SANDBOXD = "/opt/skyrl/sandboxd.pyz"
PYTHON = "/opt/skyrl/python"
"""The paths of both mounts, which are read-only."""
OLDEST_PYTHON = (3, 8)
EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 - inside of the container; what is published of it is the engine's affair
ISOLATED = ("-I", "-S", "-B")
"""Start sandboxd independent of the image's variables, site directories and files."""
_REAL = {"OH_ENABLE_VSCODE": "false", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENHANDS_SUPPRESS_BANNER": "1"}
_KEY_PREFIX = SESSION_KEY_VARIABLES[0].rstrip("0")


class InjectionError(TrainError):
    """The agent server cannot get into this image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Python:
    path: str
    version: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """The facts of an image. `pythons` is None if they were not read."""

    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    working_dir: str = ""
    digest: str = ""
    pythons: tuple[Python, ...] | None = None
    system: System | None = None
    """Its distribution; None if it was not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedPython:
    """A Python of the host with its libraries and loader: it runs with any C library (IMG008).

    `source`: its directory on the host. `command` starts it when that is mounted at PYTHON.
    """

    source: str
    command: tuple[str, ...]
    version: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A path of the host, mounted read-only."""

    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """The settings that replace those of the image. `user`: the value of --user."""

    command: tuple[str, ...]
    mounts: tuple[Mount, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str = "0"
    working_dir: str = "/"
    port: int = AGENT_PORT


def facts_of(inspected: Mapping[str, object], *, pythons: tuple[Python, ...] | None = None) -> ImageFacts:
    """From one element of `podman image inspect`; missing fields are null there."""
    config = inspected.get("Config")
    said: Mapping[str, object] = config if isinstance(config, Mapping) else {}
    environment = [text.partition("=") for text in _words(said.get("Env"))]
    digest = inspected.get("Digest") or inspected.get("Id")
    return ImageFacts(
        entrypoint=_words(said.get("Entrypoint")),
        command=_words(said.get("Cmd")),
        environment={name: value for name, _, value in environment},
        user=str(said.get("User") or ""),
        working_dir=str(said.get("WorkingDir") or ""),
        digest=str(digest or ""),
        pythons=pythons,
    )


def mount(  # FIX(IMG001)
    image: ImageFacts,
    *,
    sandboxd: str,
    session_key: str,
    mounted_python: MountedPython | None = None,
    as_root: bool = True,
    environment: Mapping[str, str] | None = None,
    working_dir: str = "/",
    requested: Sequence[str] = (),
    processes: int = 0,
    memory_mib: int = 0,
) -> Injection:
    """Mounts sandboxd from the host's file `sandboxd` and runs it with the image's Python, or with a mounted one.

    `requested`: the client's command; only its port is used. `processes`, `memory_mib`: limits that sandboxd enforces
    for engines that cannot; 0: no limit.
    """
    if not session_key:
        raise InjectionError("no session key: every process of the node could use the sandbox")
    port = port_of(requested)
    python, mounts = python_for(image, mounted_python)
    return Injection(
        command=(*python, *ISOLATED, SANDBOXD, *_options(port, processes, memory_mib)),  # FIX(IMG004)
        mounts=(Mount(source=sandboxd, target=SANDBOXD), *mounts),
        environment={**ALLOCATOR, **_environment(environment or {}, session_key)},
        user=user_of(image.user, as_root=as_root),
        working_dir=working_dir,
        port=port,
    )


def native(
    image: ImageFacts,
    requested: Sequence[str],
    *,
    session_key: str,
    as_root: bool = True,
    environment: Mapping[str, str] | None = None,
    working_dir: str = "/",
) -> Injection:
    """For an image with the real agent server: runs the client's command, once."""
    if not session_key:
        raise InjectionError(
            "no session key: the agent server would be unreachable, or open to every process of the node"
        )
    command = whole_command(image.entrypoint, requested or (BINARY,))
    if not _has(command, "--port"):
        command = (*command, "--port", str(AGENT_PORT))
    if not _has(command, "--host"):
        command = (*command, "--host", EVERY_ADDRESS)  # FIX(RUN008)
    return Injection(
        command=command,
        environment=real_environment(environment or {}, session_key),
        user=user_of(image.user, as_root=as_root),
        working_dir=working_dir,
        port=port_of(command),
    )


def whole_command(entrypoint: Sequence[str], requested: Sequence[str]) -> tuple[str, ...]:  # FIX(IMG004)
    """The requested command, after the image's init if it has one, and never after itself.

    Up to 1.21.0 the entry point of the images is the server alone, later it is `tini -- SERVER`.
    """
    init = tuple(entrypoint[: entrypoint.index("--") + 1]) if "--" in entrypoint else ()
    if init and requested[: len(init)] == init:
        return tuple(requested)
    return (*init, *requested)


def port_of(command: Sequence[str]) -> int:
    """The value of --port; the default port of the runtime API without it."""
    words = [part for word in command for part in (word.split("=", 1) if word.startswith("--port=") else (word,))]
    text = words[words.index("--port") + 1] if "--port" in words[:-1] else str(AGENT_PORT)
    if not (text.isascii() and text.isdecimal()) or not 1024 <= int(text) <= 65535:
        raise InjectionError(f"--port {text[:20]!r} of the requested command: use 1024 to 65535")
    return int(text)


def python_of(image: ImageFacts) -> Python | None:
    """The first Python that is new enough."""
    return next((python for python in image.pythons or () if python.version[:2] >= OLDEST_PYTHON), None)


def python_for(image: ImageFacts, mounted: MountedPython | None) -> tuple[tuple[str, ...], tuple[Mount, ...]]:
    """The command of a Python in the image, and the mounts for it. Raises InjectionError."""
    own = python_of(image)
    if own is not None:
        return (own.path,), ()
    if mounted is not None:
        return mounted.command, (Mount(source=mounted.source, target=PYTHON),)
    has = ", ".join(".".join(map(str, python.version)) for python in image.pythons or ()) or "none"
    wanted = ".".join(map(str, OLDEST_PYTHON))
    raise InjectionError(
        f"the image's Pythons: {has}; sandboxd needs {wanted} or newer, or a Python of the host to mount into it"
    )


def _options(port: int, processes: int, memory_mib: int) -> tuple[str, ...]:
    limits = {"--processes": processes, "--memory-mib": memory_mib}
    given = [word for name, limit in limits.items() if limit for word in (name, str(limit))]
    return ("--host", EVERY_ADDRESS, "--port", str(port), *given)  # FIX(RUN008)


def real_environment(asked: Mapping[str, str], session_key: str) -> dict[str, str]:
    """For the real agent server: no editor, and nothing that it would download at its start."""
    return {**_REAL, **_environment(asked, session_key)}


def _environment(asked: Mapping[str, str], session_key: str) -> dict[str, str]:
    """The client's variables without session keys: only the runtime sets them."""
    taken = {*SESSION_KEY_VARIABLES}
    kept = {name: text for name, text in asked.items() if name not in taken and not name.startswith(_KEY_PREFIX)}
    return {**kept, SESSION_KEY_VARIABLES[0]: session_key}


def _has(command: Sequence[str], option: str) -> bool:
    return any(word == option or word.startswith(option + "=") for word in command)


def _words(value: object) -> tuple[str, ...]:
    """From an inspected image: a list of strings, null, or (in old images) one string."""
    if isinstance(value, str):
        return (value,)
    return tuple(str(word) for word in value) if isinstance(value, list) else ()
