"""The images hold no agent server, and nothing puts one in.

## What it does
Looks into the layers of the dataset's images in the store for `/usr/local/bin/openhands-agent-server`, where the
sandboxes are started by a runtime that does not bring its own.

## Why it breaks training
Clients start that program. In an image that lacks it the container ends at once, and the runtime waits for an answer
until its time is up: the first users lost days to images of R2E-Gym as they come.

## How to fix
`skyrl-train runtime serve` mounts its own agent server, sandboxd, into any image (`sandbox.inject = "mount"`), or builds
the real one in (`"build"`). For another runtime, build derived images ahead.

## Example
    Connection refused to http://node07:60001/alive, server still starting...
    Action server at http://node07:60001 did not become ready within 60.3s
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.core.signature import Part, Signature
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.image_words import ahead, inject_of, listed, looked_into, unless_unseen
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.agent_server import BINARY, SOURCE

_EXPLAIN = "the image has no agent server where the runtime starts it; mount sandboxd or build a derived image"
SIGNATURES = (
    Signature(
        pattern=r"""executable file .{0,40}agent-server.{0,20} not found|openhands-agent-server['\"]?: (?:no such file|not found)""",
        sample='Error: runc: runc create failed: unable to start container process: exec: executable file "/usr/local/bin/openhands-agent-server" not found in $PATH',
        explain=_EXPLAIN,
        versions="podman",
    ),
    Signature(
        pattern=r"\[FATAL tini \(\d+\)\] exec .{1,80} failed: No such file",
        sample="[FATAL tini (6)] exec --port failed: No such file or directory",
        explain=_EXPLAIN,
        versions="tini",
    ),
    Signature(
        pattern=r"Action server at \S+ did not become ready within",
        sample="Action server at http://node07:60001 did not become ready within 60.3s",
        explain=_EXPLAIN,
        versions="runtime server",
    ),
    Signature(
        pattern=r"Connection refused to \S+/alive",
        sample="Connection refused to http://node07:60001/alive, server still starting...",
        explain="nothing answers in the sandbox",
        role=Part.CONFIRMATION,
        versions="runtime server",
    ),
)


@check("IMG001", roles=[Role.RUNTIME], fix="skyrl_train/sandbox/inject.py")
def agent_server_missing(plan: Plan, stored: StoredImages) -> Iterator[Finding]:
    if inject_of(plan) is not None:
        return
    images = looked_into(stored)
    bare = [image.shown for image in images if image.has(BINARY, SOURCE) is False]
    if not bare:
        unless_unseen(images, (BINARY, SOURCE))
        return
    yield Finding(
        message=f"{len(bare)} of {len(images)} images hold no {BINARY}, which clients start: {listed(bare)}",
        evidence=(f"{bare[0]}: neither {BINARY} nor {SOURCE} is in its layers",),
        remedy=ahead(plan, "build", "build the agent server into them, or start them with skyrl-train runtime serve"),
    )
