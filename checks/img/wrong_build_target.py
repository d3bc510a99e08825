"""The image was built with the wrong build target.

## What it does
If images start their own agent server, looks into their layers for the layout of the targets `source` and
`source-minimal`, which have a Python environment in /agent-server but not the program that clients start.

## Why it breaks training
The container starts, but the client's command names a file that does not exist. No server answers, and no line of the
log gives the reason.

## How to fix
Build with the target `binary-minimal` or `binary`, or set the client's `target_type="source"`.

## Example
    exec: "/usr/local/bin/openhands-agent-server": stat /usr/local/bin/openhands-agent-server: no such file or directory
"""

from collections.abc import Iterator

from checks.img.shared import ahead, inject_of, listed, looked_into, unless_unseen
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.agent_server import BINARY, BUILD_TARGET, SOURCE, target_violations


@check("IMG003", roles=[Role.RUNTIME], fix="skyrl_train/contracts/sandbox/agent_server.py")
def wrong_build_target(plan: Plan, stored: StoredImages) -> Iterator[Finding]:
    if inject_of(plan) == "mount":
        return
    images = looked_into(stored)
    wrong = [image.label for image in images if image.has(SOURCE) and image.has(BINARY) is False]
    if not wrong:
        unless_unseen(images, (SOURCE, BINARY))
        return
    (rule,) = target_violations(target="source-minimal", target_type="binary")
    yield Finding(
        message=f"{len(wrong)} of {len(images)} images have {SOURCE} but no {BINARY}: {listed(wrong)}",
        evidence=(rule.message,),
        remedy=ahead(plan, "build", f"rebuild them with the target {BUILD_TARGET}"),
    )
