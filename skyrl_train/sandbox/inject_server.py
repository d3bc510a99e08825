"""How the real agent server gets into an image, by a mount; and our own first process before it, for its limits. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skyrl_train.contracts.sandbox.agent_server import BINARY
from skyrl_train.contracts.sandbox.glibc import AGENT_SERVER_BUILDER, runs_on, shown
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
class Asked:
    """What a session brings with it."""

    session_key: str
    environment: Mapping[str, str]
    working_dir: str = "/"
    requested: Sequence[str] = ()
    as_root: bool = True


def mount_bundle(image: ImageFacts, bundle: ServerBundle, asked: Asked) -> Injection:
    """The packages with their own Python and C library: whatever the image has of them makes no difference (IMG008)."""
    mounts = [Mount(source=bundle.directory, target=PLACE)]
    if bundle.site:
        mounts.append(Mount(source=bundle.site, target=f"{PLACE}/{SITE}"))
    return _injection(image, bundle.command, tuple(mounts), asked)


def mount_program(image: ImageFacts, program: str, asked: Asked) -> Injection:
    """The released program. Raises InjectionError where the image's C library is older than what it was built with."""
    refuse_old_library(image)
    return _injection(image, (BINARY,), (Mount(source=program, target=BINARY),), asked)


def refuse_old_library(image: ImageFacts) -> None:  # FIX(IMG008)
    """One that is not known is not refused: the start tells."""
    system = image.system
    if system is None or runs_on(AGENT_SERVER_BUILDER, system) is not False:
        return
    has = "no C library that is known" if system.glibc is None else shown(system.glibc)
    raise InjectionError(
        f"IMG008: the image is {system.name}, with {has}; the released openhands-agent-server needs "
        f"{shown(AGENT_SERVER_BUILDER)} or newer; name a virtual environment or a directory of wheels in "
        "sandbox.agent_server, which brings its own C library, or use our own agent server"
    )


def guarded(
    injection: Injection, *, python: Sequence[str], sandboxd: str, processes: int, memory_mib: int
) -> Injection:
    """Behind sandboxd as the first process: it reaps what is left behind, and holds the limits that the engine cannot."""
    limits = {"--processes": processes, "--memory-mib": memory_mib}
    words = [word for name, limit in limits.items() if limit for word in (name, str(limit))]
    return replace(
        injection,
        command=(*python, *ISOLATED, SANDBOXD, *words, "--run", "--", *injection.command),
        mounts=(*injection.mounts, Mount(source=sandboxd, target=SANDBOXD)),
    )


def _injection(image: ImageFacts, program: Sequence[str], mounts: tuple[Mount, ...], asked: Asked) -> Injection:
    if not asked.session_key:
        raise InjectionError("an agent server without a session key listens where nobody reaches it, or lets all in")
    port = port_of(asked.requested)
    return Injection(
        command=(*program, "--host", EVERY_ADDRESS, "--port", str(port)),  # FIX(RUN008)
        mounts=mounts,
        environment=real_environment(asked.environment, asked.session_key),
        user=user_of(image.user, as_root=asked.as_root),
        working_dir=asked.working_dir,
        port=port,
    )
