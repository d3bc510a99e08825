"""How an agent server gets into an image that lacks one: what is mounted, and what is run in place of the image's own.

Pure. The whole command line is given, and the image's entry point is never run: an image that has the agent server as
its entry point would get it twice (IMG004).
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
"""Where both are mounted, read-only."""
OLDEST_PYTHON = (3, 8)
EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 - inside of the container; what is published of it is the engine's affair
ISOLATED = ("-I", "-S", "-B")
"""No variable, no site directory and no file of the image's has a say in how sandboxd starts."""
_REAL = {"OH_ENABLE_VSCODE": "false", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENHANDS_SUPPRESS_BANNER": "1"}
_KEY_PREFIX = SESSION_KEY_VARIABLES[0].rstrip("0")


class InjectionError(TrainError):
    """No agent server can be brought into this image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Python:
    path: str
    version: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """What an image says of itself. `pythons` is None where nobody has looked."""

    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    working_dir: str = ""
    digest: str = ""
    pythons: tuple[Python, ...] | None = None
    system: System | None = None
    """Its distribution; None where nobody has looked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedPython:
    """A Python of the host with the libraries it needs, its loader among them: it runs on any C library (IMG008).

    `source` is its directory on the host, and `command` starts it where that is mounted at PYTHON.
    """

    source: str
    command: tuple[str, ...]
    version: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """Of the host, read-only in the container."""

    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """What a container gets instead of what its image says. `user` is what --user takes."""

    command: tuple[str, ...]
    mounts: tuple[Mount, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str = "0"
    working_dir: str = "/"
    port: int = AGENT_PORT


def facts_of(inspected: Mapping[str, object], *, pythons: tuple[Python, ...] | None = None) -> ImageFacts:
    """From one element of `podman image inspect`. Fields that an image leaves out are null there."""
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
    """sandboxd from the host's file `sandboxd`, run by the image's Python, or by a mounted one where it has none.

    `requested` is the command that the client sent; only its port counts. `processes` and `memory_mib` are limits that
    sandboxd holds itself, for engines that cannot; 0 is none.
    """
    if not session_key:
        raise InjectionError("a sandbox without a session key would let every process of the node in")
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
    """For an image that has the real agent server, built by us or by others: what the client asked for, once."""
    if not session_key:
        raise InjectionError("an agent server without a session key listens where nobody reaches it, or lets all in")
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
    """The requested command behind the image's init, if it has one, and never behind itself.

    Up to 1.21.0 the images' entry point is the server alone, since then it is `tini -- SERVER`.
    """
    init = tuple(entrypoint[: entrypoint.index("--") + 1]) if "--" in entrypoint else ()
    if init and requested[: len(init)] == init:
        return tuple(requested)
    return (*init, *requested)


def port_of(command: Sequence[str]) -> int:
    """What stands behind --port; the port that clients of the runtime API ask for where there is none."""
    words = [part for word in command for part in (word.split("=", 1) if word.startswith("--port=") else (word,))]
    text = words[words.index("--port") + 1] if "--port" in words[:-1] else str(AGENT_PORT)
    if not (text.isascii() and text.isdecimal()) or not 1024 <= int(text) <= 65535:
        raise InjectionError(f"--port {text[:20]!r} of the requested command: wanted 1024 to 65535")
    return int(text)


def python_of(image: ImageFacts) -> Python | None:
    """The first that is new enough."""
    return next((python for python in image.pythons or () if python.version[:2] >= OLDEST_PYTHON), None)


def python_for(image: ImageFacts, mounted: MountedPython | None) -> tuple[tuple[str, ...], tuple[Mount, ...]]:
    """What starts a Python in the image, and what has to be mounted for it. Raises InjectionError."""
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
    """Of the real agent server: no editor, and nothing that it would fetch from a network at its start."""
    return {**_REAL, **_environment(asked, session_key)}


def _environment(asked: Mapping[str, str], session_key: str) -> dict[str, str]:
    """What the client asked for; the key is the runtime's alone to give."""
    taken = {*SESSION_KEY_VARIABLES}
    kept = {name: text for name, text in asked.items() if name not in taken and not name.startswith(_KEY_PREFIX)}
    return {**kept, SESSION_KEY_VARIABLES[0]: session_key}


def _has(command: Sequence[str], option: str) -> bool:
    return any(word == option or word.startswith(option + "=") for word in command)


def _words(value: object) -> tuple[str, ...]:
    """Of an inspected image: a list of strings, null, or (in old images) one string."""
    if isinstance(value, str):
        return (value,)
    return tuple(str(word) for word in value) if isinstance(value, list) else ()
