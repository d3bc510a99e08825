"""The images have no agent server.

## What it does
Looks into the layers of the dataset's images in the store for `/usr/local/bin/openhands-agent-server`, if the runtime
does not add an agent server itself.

## Why it breaks training
Clients start that program. Without it the container ends at once, and the runtime waits for an answer until its
timeout. The published images of R2E-Gym have no agent server.

## How to fix
`skyrl-train runtime serve` mounts its own agent server, sandboxd, into any image (`sandbox.inject = "mount"`), or
builds the real one into the image (`"build"`). For another runtime, build derived images before the job.

## Example
    Connection refused to http://node07:60001/alive, server still starting...
    Action server at http://node07:60001 did not become ready within 60.3s
"""

from collections.abc import Iterator

from checks.img.shared import ahead, inject_of, listed, looked_into, unless_unseen
from checks.vocabulary import LACK
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.core.signature import Part, Signature
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.agent_server import BINARY, SOURCE

CAUSE = "the image has no agent server at the expected path; mount sandboxd or build a derived image"
NOT_RUNNABLE = "the image cannot run the agent server at the expected path; mount sandboxd or build a derived image"

SIGNATURES = (
    Signature(
        pattern=r"""executable file .{0,40}agent-server.{0,20} not found|openhands-agent-server['\"]?: (?:no such file|not found)""",
        sample='Error: runc: runc create failed: unable to start container process: exec: executable file "/usr/local/bin/openhands-agent-server" not found in $PATH',
        explain=CAUSE,
        versions="podman",
    ),
    Signature(
        pattern=r"\[FATAL tini \(\d+\)\] exec .{1,80} failed: No such file",
        sample="[FATAL tini (6)] exec --port failed: No such file or directory",
        explain=CAUSE,
        versions="tini",
        refines=("RUN003",),
    ),
    Signature(
        pattern=r"Action server at \S+ did not become ready within",
        sample="Action server at http://node07:60001 did not become ready within 60.3s",
        explain=CAUSE,
        versions="runtime server",
    ),
    Signature(
        pattern=r"Connection refused to \S+/alive",
        sample="Connection refused to http://node07:60001/alive, server still starting...",
        explain="no server answers in the sandbox",
        versions="runtime server",
        role=Part.CONFIRMATION,
    ),
    Signature(
        pattern=r"""/agent[-_]server/[/.\w-]{0,60}/bin/[\w.-]{1,30}['\"`]?: (?:[Nn]o such file|not found|[Pp]ermission denied)""",
        sample="bash: line 1: /agent-server/.venv/bin/python: No such file or directory",
        explain=NOT_RUNNABLE,
        versions="sh",
    ),
    Signature(
        pattern=r"""agent-server['\"`]?: (?:stat .{0,80}: )?(?:[Nn]o such file|(?:command )?not found|cannot (?:open|execute))|(?:stat|exec|open) .{0,60}agent-server.{0,20}: no such file|No module named '?openhands\.agent_server|module specification for 'openhands|\(catatonit:\d+\): failed to exec pid1""",
        sample='Error: runc create failed: unable to start container process: exec: "/usr/local/bin/openhands-agent-server": stat /usr/local/bin/openhands-agent-server: no such file or directory: unknown',
        explain=CAUSE,
        versions="docker, runc, python",
    ),
    Signature(
        pattern=r"""exec: ['"]?/?[^'"\s]{0,160}agent[-_]server[^'"\s]{0,80}['"]?: (?:stat |no such|executable file not found|permission denied)""",
        sample='Error: unable to start container process: exec: "/agent-server/.venv/bin/python": stat /usr/local/bin/python3: no such file or directory',
        explain=NOT_RUNNABLE,
        versions="docker, runc, crun",
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\bagent[- _]server\b(?: binary| executable| program)?\b.{{0,60}}\b{LACK}|\bno agent[- _]server\b",
    sample="ERROR image x/y:z has no agent server",
    explain=CAUSE,
    versions="any",
    unless="Invalid|versions?",
)


@check("IMG001", roles=[Role.RUNTIME], fix="skyrl_train/sandbox/inject.py")
def agent_server_missing(plan: Plan, stored: StoredImages) -> Iterator[Finding]:
    if inject_of(plan) is not None:
        return
    images = looked_into(stored)
    bare = [image.label for image in images if image.has(BINARY, SOURCE) is False]
    if not bare:
        unless_unseen(images, (BINARY, SOURCE))
        return
    yield Finding(
        message=f"{len(bare)} of {len(images)} images have no {BINARY}, which clients start: {listed(bare)}",
        evidence=(f"{bare[0]}: its layers have neither {BINARY} nor {SOURCE}",),
        remedy=ahead(plan, "build", "build the agent server into them, or start them with skyrl-train runtime serve"),
    )
