"""Mounts the real agent server into an image, with our own first process for the limits. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skyrl_train.contracts.sandbox.agent_server import BINARY
from skyrl_train.contracts.sandbox.glibc import AGENT_SERVER_BUILDER, render_glibc, runs_on
from skyrl_train.contracts.sandbox.image_user import user_of
from skyrl_train.sandbox.inject import (
    EVERY_ADDRESS,
    ISOLATED,
    SANDBOXD,
    ImageFacts,
    Injection,
    InjectionError,
    Mount,
    port_of,
    real_environment,
)
from skyrl_train.sandbox.server_bundle import PLACE, SITE, ServerBundle


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRequest:
    """The settings of a session."""

    session_key: str
    environment: Mapping[str, str]
    working_dir: str = "/"
    requested: Sequence[str] = ()
    as_root: bool = True


def mount_bundle(image: ImageFacts, bundle: ServerBundle, request: ServerRequest) -> Injection:
    """Mounts the packages with their own Python and C library, independent of the image's (IMG008)."""
    mounts = [Mount(source=bundle.directory, target=PLACE)]
    if bundle.site:
        mounts.append(Mount(source=bundle.site, target=f"{PLACE}/{SITE}"))
    return _injection(image, bundle.command, tuple(mounts), request)


def mount_program(image: ImageFacts, program: str, request: ServerRequest) -> Injection:
    """Mounts the released program. Raises InjectionError if the image's C library is too old for it."""
    refuse_old_library(image)
    return _injection(image, (BINARY,), (Mount(source=program, target=BINARY),), request)


def refuse_old_library(image: ImageFacts) -> None:  # FIX(IMG008)
    """Does not refuse an unknown library: the start will show it."""
    system = image.system
    if system is None or runs_on(AGENT_SERVER_BUILDER, system) is not False:
        return
    has = "an unknown C library" if system.glibc is None else render_glibc(system.glibc)
    raise InjectionError(
        f"IMG008: the image is {system.name}, with {has}; the released openhands-agent-server needs "
        f"{render_glibc(AGENT_SERVER_BUILDER)} or newer; name a virtual environment or a directory of wheels in "
        "sandbox.agent_server, which brings its own C library, or use our own agent server"
    )


def with_init_process(
    injection: Injection, *, python: Sequence[str], sandboxd: str, processes: int, memory_mib: int
) -> Injection:
    """Puts sandboxd before the server as the first process: it reaps orphans and enforces limits that the engine cannot."""
    limits = {"--processes": processes, "--memory-mib": memory_mib}
    words = [word for name, limit in limits.items() if limit for word in (name, str(limit))]
    return replace(
        injection,
        command=(*python, *ISOLATED, SANDBOXD, *words, "--run", "--", *injection.command),
        mounts=(*injection.mounts, Mount(source=sandboxd, target=SANDBOXD)),
    )


def _injection(
    image: ImageFacts, program: Sequence[str], mounts: tuple[Mount, ...], request: ServerRequest
) -> Injection:
    if not request.session_key:
        raise InjectionError(
            "no session key: the agent server would be unreachable, or open to every process of the node"
        )
    port = port_of(request.requested)
    return Injection(
        command=(*program, "--host", EVERY_ADDRESS, "--port", str(port)),  # FIX(RUN008)
        mounts=mounts,
        environment=real_environment(request.environment, request.session_key),
        user=user_of(image.user, as_root=request.as_root),
        working_dir=request.working_dir,
        port=port,
    )
