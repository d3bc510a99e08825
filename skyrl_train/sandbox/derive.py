"""`build`: an image of the task's with the real agent server in it, and the name under which it is found again. Pure."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skyrl_train.contracts.sandbox.agent_server import (
    BINARY,
    BUILD_TARGET,
    REPOSITORY,
    SOURCE,
    TARGET_OF,
    target_violations,
)
from skyrl_train.contracts.sandbox.references import parse_reference
from skyrl_train.sandbox.inject import InjectionError
from skyrl_train.sandbox.server_bundle import PLACE, START

LABELS = {
    "base": "skyrl.derived.base",
    "sdk_version": "skyrl.derived.sdk-version",
    "target": "skyrl.derived.target",
    "key": "skyrl.derived.key",
}
_RECIPE = 1
"""Raised when the text below changes what an image holds: older ones are then not taken for it."""
_FROM = re.compile(r"^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(\S+)(?:[ \t]+AS[ \t]+(\S+))?", re.MULTILINE | re.IGNORECASE)
_SOURCE_DIRECTORY = "/agent-server"
_BUNDLE = (
    f"COPY --chown=0:0 . {PLACE}",
    *(f"COPY --chown=0:0 {START} {path}" for path in (BINARY, SOURCE)),  # FIX(IMG003) -- whichever a client starts
)
_SERVER_IMAGE = "ghcr.io/openhands/agent-server:{version}-python"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """What is put in. `server_image` holds the agent server; none stands for the published one of the version, and
    `from_context` takes the target's files from the build's own directory instead, where there is no registry."""

    sdk_version: str
    target: str = BUILD_TARGET
    server_image: str | None = None
    from_context: bool = False
    content: str = ""
    """Of that directory: what tells it from another one with other files."""
    bundle: str = ""
    """The fingerprint of a `ServerBundle` that is the build's own directory: packages with their own C library."""


def cache_key(base_digest: str, options: BuildOptions) -> str:
    """Of what an image is made of: the same base under another name is the same image."""
    if not base_digest:
        raise InjectionError("the base image has no digest to tell its derived images by")
    parts = [_RECIPE, base_digest, options.sdk_version, options.target, options.server_image, options.from_context]
    parts += [text for text in (options.bundle, options.content) if text]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def derived_image(base_digest: str, options: BuildOptions) -> str:
    return f"{REPOSITORY}:{cache_key(base_digest, options)}"


def containerfile(base: str, base_digest: str, options: BuildOptions) -> str:
    """Raises BadReferenceError or InjectionError: a name with a line in it would be a line of the recipe."""
    _check(options)
    parse_reference(base)
    origin = options.server_image or _SERVER_IMAGE.format(version=options.sdk_version)
    parse_reference(origin)
    labels = {
        LABELS["base"]: base_digest,
        LABELS["sdk_version"]: options.sdk_version,
        LABELS["target"]: options.target,
        LABELS["key"]: cache_key(base_digest, options),
    }
    if options.bundle:
        return _recipe([f"FROM {base}", *_BUNDLE], labels)
    kept = _SOURCE_DIRECTORY if options.target in TARGET_OF["source"] else BINARY
    copied = (
        f"COPY --chown=0:0 {kept.lstrip('/')} {kept}" if options.from_context else f"COPY --from=server {kept} {kept}"
    )
    stages = [] if options.from_context else [f"FROM {origin} AS server"]
    return _recipe([*stages, f"FROM {base}", copied], labels)


def _recipe(lines: Sequence[str], labels: Mapping[str, str]) -> str:
    end = ["ENTRYPOINT []", *(f"LABEL {name}={json.dumps(value)}" for name, value in labels.items())]
    return "\n".join([*lines, *end]) + "\n"


def bases_of(recipe: str) -> tuple[str, ...]:
    """The images that a recipe is made from, each once. What a variable names is left to Podman."""
    stages: set[str] = {"scratch"}
    found: dict[str, None] = {}
    for match in _FROM.finditer(recipe):
        image, stage = match[1], match[2]
        if image.lower() not in stages and "$" not in image:
            found[image] = None
        if stage:
            stages.add(stage.lower())
    return tuple(found)


def _check(options: BuildOptions) -> None:
    target_type = "source" if options.target in TARGET_OF["source"] else "binary"
    for violation in target_violations(target=options.target, target_type=target_type):
        raise InjectionError(violation.message)
    if not options.sdk_version or not all(char.isalnum() or char in ".-+" for char in options.sdk_version):
        raise InjectionError(f"{options.sdk_version[:40]!r} is no version of the SDK; wanted one such as '1.58.0'")
