"""Which agent server sandboxes get, as `[sandbox]` says: ours or the real one, mounted or built into an image.

What is mounted or built in is made once, when the server comes up, and not while a session waits.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from skyrl_train.config.sections.sandbox import SandboxSection
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.sandbox.agent_server import BINARY
from skyrl_train.sandbox.derive import BuildOptions, derived_image
from skyrl_train.sandbox.fetch import Ways
from skyrl_train.sandbox.inject import ImageFacts, Injection, InjectionError, MountedPython, native, python_for
from skyrl_train.sandbox.inject_server import Asked, guarded, mount_bundle, mount_program, refuse_old_library
from skyrl_train.sandbox.mounted_python import bundle_python
from skyrl_train.sandbox.recipe import Recipe, recipe_of
from skyrl_train.sandbox.runtime.plan import Inject, by_mount
from skyrl_train.sandbox.runtime.podman.namespace_client import usable_python
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.settings import RuntimeSettings
from skyrl_train.sandbox.sandboxd.bundle import write_zipapp
from skyrl_train.sandbox.server_bundle import ServerBundle, make_bundle
from skyrl_train.sandbox.server_source import Kind, ServerSource, source_of

BUILD = "build"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """`recipe` where an image is derived; `bundle` or `program` where the real server is mounted; else it is ours."""

    sandboxd: str
    python: MountedPython | None
    bundle: ServerBundle | None = None
    program: str = ""
    recipe: Recipe | None = None

    @property
    def derive(self) -> Callable[[ImageFacts], str] | None:
        options = None if self.recipe is None else self.recipe.options
        return None if options is None else lambda image: _derived(image, options)

    @property
    def name(self) -> str:
        """For the log of the start."""
        if self.recipe is not None:
            return f"openhands-agent-server {self.recipe.options.sdk_version}, built in"
        if self.bundle is not None:
            return f"openhands-agent-server {self.bundle.version}, mounted"
        return f"{self.program}, mounted" if self.program else "sandboxd, mounted"


def choose(sandbox: SandboxSection, place: Path) -> Chosen:
    """Makes what is to be mounted, or built in, below `place`. Raises UsageError or InjectionError."""
    ours = Chosen(sandboxd=str(write_zipapp(place)), python=_python(place))
    if sandbox.inject == BUILD:
        return replace(ours, recipe=recipe_of(sandbox.agent_server, sandbox.agent_server_version, place))
    if sandbox.agent_server is None:
        return ours
    source = source_of(sandbox.agent_server, version=sandbox.agent_server_version)
    if source.kind in (Kind.PROGRAM, Kind.CONTEXT):
        return replace(ours, program=_program(source))
    return replace(ours, bundle=make_bundle(source, place, whole=False))


def injector(chosen: Chosen, settings: RuntimeSettings, *, as_root: bool) -> Inject:
    if chosen.recipe is None and chosen.bundle is None and not chosen.program:
        return by_mount(chosen.sandboxd, python=chosen.python, as_root=as_root, settings=settings)

    def inject(record: Record, image: ImageFacts) -> Injection:
        return _guarded(chosen, settings, record, image, _real(chosen, record, image, as_root=as_root))

    return inject


def ways_of(sandbox: SandboxSection, chosen: Chosen) -> Ways:
    """Where the images of sessions come from: what `skyrl-train images` does for the same configuration."""
    archive = sandbox.image_archive or ""
    if archive and not Path(archive).is_dir():
        raise UsageError(f"sandbox.image_archive = {archive!r}: no such directory; wanted one of archives of images")
    ways = Ways(archive=archive, mirror=sandbox.image_mirror or "")
    if chosen.recipe is None:
        return ways
    return replace(ways, build=chosen.recipe.options, context=chosen.recipe.context)


def _real(chosen: Chosen, record: Record, image: ImageFacts, *, as_root: bool) -> Injection:
    request = record.request
    asked = Asked(
        session_key=record.key,
        environment=request.environment,
        working_dir=request.working_dir,
        requested=request.command,
        as_root=as_root,
    )
    if chosen.bundle is not None:
        return mount_bundle(image, chosen.bundle, asked)
    if chosen.program:
        return mount_program(image, chosen.program, asked)
    return native(
        image,
        request.command,
        session_key=record.key,
        as_root=as_root,
        environment=request.environment,
        working_dir=request.working_dir,
    )


def _guarded(
    chosen: Chosen, settings: RuntimeSettings, record: Record, image: ImageFacts, injection: Injection
) -> Injection:
    """With a Python for our first process: the server's own, the image's, or the one that is mounted for it."""
    bundle = chosen.bundle or (chosen.recipe.bundle if chosen.recipe is not None else None)
    python, mounts = (bundle.python, ()) if bundle is not None else python_for(image, chosen.python)
    factor = record.request.resource_factor
    return guarded(
        replace(injection, mounts=(*injection.mounts, *mounts)),
        python=python,
        sandboxd=chosen.sandboxd,
        processes=settings.pids * factor,
        memory_mib=settings.memory_mib * factor,
    )


def _derived(image: ImageFacts, options: BuildOptions) -> str:
    """Refused before minutes are spent: the released program on an older C library than its own never runs (IMG008)."""
    if not options.bundle:
        refuse_old_library(image)
    return derived_image(image.digest, options)


def _program(source: ServerSource) -> str:
    path = source.path if source.kind is Kind.PROGRAM else source.path + BINARY
    if not Path(path).is_file():
        raise InjectionError(f"{path} is not there; wanted the released program, to be mounted")
    return path


def _python(place: Path) -> MountedPython | None:
    """Without a Python of the host, images need their own, and are told so each."""
    try:
        return bundle_python(place, usable_python())
    except (InjectionError, OSError):
        return None
