"""What a derived image is made of: `sandbox.agent_server`, or its published image. One rule for `skyrl-train images build`
and for the runtime.
"""

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from skyrl_train.contracts.sandbox.agent_server import BINARY, BUILD_TARGET
from skyrl_train.sandbox.derive import BuildOptions
from skyrl_train.sandbox.server_bundle import ServerBundle, make_bundle
from skyrl_train.sandbox.server_source import Kind, source_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """`context`: the build's own directory, empty where everything comes from images."""

    options: BuildOptions
    context: str = ""
    bundle: ServerBundle | None = None


def recipe_of(
    agent_server: str | None, version: str, place: Path, *, target: str = BUILD_TARGET, server_image: str | None = None
) -> Recipe:
    """Makes below `place` what is copied into images. Raises UsageError or InjectionError."""
    if agent_server is None:
        return Recipe(options=BuildOptions(sdk_version=version, target=target, server_image=server_image))
    source = source_of(agent_server, version=version)
    if source.kind is Kind.CONTEXT:
        options = BuildOptions(sdk_version=version, target=target, from_context=True, content=_content(source.path))
        return Recipe(options=options, context=source.path)
    if source.kind is Kind.PROGRAM:
        context = _program_context(Path(source.path), place)
        options = BuildOptions(sdk_version=version, from_context=True, content=context.name)
        return Recipe(options=options, context=str(context))
    bundle = make_bundle(source, place, whole=True)
    options = BuildOptions(sdk_version=bundle.version, target=target, bundle=bundle.fingerprint)
    return Recipe(options=options, context=bundle.directory, bundle=bundle)


def _content(directory: str) -> str:
    """By what stands there and when it was written: reading all of it would take longer than it is worth."""
    made = hashlib.sha256()
    for path in sorted(Path(directory).rglob("*")):
        found = path.lstat()
        made.update(f"{path.relative_to(directory)} {found.st_size} {found.st_mtime_ns}\n".encode())
    return made.hexdigest()[:16]


def _program_context(program: Path, place: Path) -> Path:
    """A directory that holds it where an image has it."""
    context = place / f"program-{hashlib.sha256(program.read_bytes()).hexdigest()[:16]}"
    if not context.exists():
        half_done = place / f".{context.name}.{os.getpid()}"
        target = half_done / BINARY.lstrip("/")
        shutil.rmtree(half_done, ignore_errors=True)
        target.parent.mkdir(parents=True)
        shutil.copy2(program, target)
        target.chmod(0o755)
        half_done.rename(context)
    return context
