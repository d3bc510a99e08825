"""The image's entrypoint and the client's command both name the agent server.

## What it does
Reads the entrypoint from the configuration of each image in the store, unless `skyrl-train runtime serve` starts
them.

## Why it breaks training
Podman appends the command to the image's entrypoint. Clients send `/usr/local/bin/openhands-agent-server --port
60000`; images with an agent server have that program as their entrypoint, since 1.21.1 behind `tini --`. It then gets
its own path as an argument and exits with status 2.

## How to fix
The runtime must override the entrypoint: `podman run --entrypoint`. `skyrl-train runtime serve` always does. Removing
the path from the command works for only one form of entrypoint.

## Example
    openhands-agent-server: error: unrecognized arguments: /usr/local/bin/openhands-agent-server
"""

from collections.abc import Iterator

from checks.img.shared import inject_of, listed, looked_into
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.agent_server import BINARY, SOURCE

CAUSE = "the image's entrypoint and the command both name the agent server; the runtime must override the entrypoint"

SIGNATURES = (
    Signature(
        pattern=r"unrecognized arguments: \S*openhands-agent-server",
        sample="openhands-agent-server: error: unrecognized arguments: /usr/local/bin/openhands-agent-server",
        explain=CAUSE,
        versions="openhands-agent-server",
    ),
    Signature(
        pattern=r"unrecognized arguments?:? .{0,80}agent[-_]server|unexpected (?:extra )?argument.{0,80}agent[-_]server",
        sample="__main__.py: error: unrecognized arguments: /usr/local/bin/openhands-agent-server",
        explain=CAUSE,
        versions="openhands-agent-server",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\bentry ?point\b.{0,80}\b(?:twice|both|duplicat\w+|repeated|already)\b",
    sample="ERROR entrypoint and command both start openhands-agent-server",
    explain=CAUSE,
    versions="any",
)


@check("IMG004", roles=[Role.RUNTIME], fix="skyrl_train/sandbox/inject.py")
def entrypoint_duplicated(plan: Plan, stored: StoredImages) -> Iterator[Finding]:
    if inject_of(plan) is not None:
        return
    images = looked_into(stored)
    doubled = [image for image in images if BINARY in image.entrypoint or SOURCE in image.entrypoint]
    if not doubled:
        unread = next((image.unread[0] for image in images if image.unread), None)
        if unread is not None:
            raise CouldNotLook(unread)
        return
    first = doubled[0]
    yield Finding(
        message=(
            f"{len(doubled)} of {len(images)} images start the agent server by their entrypoint, and clients also name it in their command: {listed([image.label for image in doubled])}; expected the runtime to override the entrypoint"
        ),
        evidence=(f"{first.label}: Entrypoint {list(first.entrypoint)}",),
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG,
            summary="start sandboxes with skyrl-train runtime serve, or let the runtime pass --entrypoint",
        ),
        severity=Severity.WARNING,
    )
