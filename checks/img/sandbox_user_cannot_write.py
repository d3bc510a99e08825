"""The sandbox runs as a user who may not write where the task's files are.

## What it does
Works out as whom a sandbox runs, from the image's own user and `sandbox.run_as_root`, and compares that with who owns
`/testbed` in the image.

## Why it breaks training
The files of R2E-Gym's images are root's. Images with an agent server have a user of their own, 10001: the agent then
edits nothing, every test fails as before, and every rollout gets reward 0.

## How to fix
`sandbox.run_as_root = true`: inside a rootless container root is nobody but you. Or build the image with its files owned
by that user.

## Example
    mkdir: cannot create directory '/root/.venv': Permission denied
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.images.stored import TESTBED, Node, StoredImage, StoredImages
from skyrl_doctor.image_words import inject_of, looked_into
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.verdicts import fault
from skyrl_train.sandbox.image_user import Owner, may_write, user_of

KEY = "sandbox.run_as_root"
SIGNATURES = (
    Signature(
        pattern=r"(?:mkdir|touch|mv|cp|ln|rm|chmod|chown|tee|bash|sh|find|tar): .{0,160}(?:/root|/testbed|/usr/local/bin|/r2e_tests).{0,160}Permission denied",
        sample="mkdir: cannot create directory '/root/.venv': Permission denied",
        explain="the sandbox runs as a user who may not write there; run it as root inside rootless Podman",
        versions="openhands-agent-server",
    ),
)


@check("IMG007", roles=[Role.RUNTIME], fix="skyrl_train/sandbox/image_user.py")
def sandbox_user_cannot_write(plan: Plan, stored: StoredImages) -> Iterator[Finding]:
    as_root = inject_of(plan) is not None and plan.flag(KEY) is not False
    images = looked_into(stored)
    shut = [image for image in images if _is_shut_out(image, as_root=as_root)]
    if shut:
        first = shut[0]
        yield fault(
            f"{len(shut)} of {len(images)} images would run as user {user_of(first.user, as_root=as_root)!r}, who may "
            f"not write to {TESTBED}: {first.shown}; wanted root, or the owner of its files",
            plan.place(KEY),
            plan.settings({KEY: "true"}) if inject_of(plan) is not None else None,
            summary="run sandboxes as root: inside a rootless container root is nobody but you",
            evidence=(_shown(first),),
        )


def _is_shut_out(image: StoredImage, *, as_root: bool) -> bool:
    name = user_of(image.user, as_root=as_root)
    if name == "0":
        return False
    if TESTBED not in image.nodes:
        raise CouldNotLook(f"image {image.shown}: {image.unread[0] if image.unread else TESTBED}")
    node = image.nodes[TESTBED]
    if node is None:
        return False
    number = int(name) if name.isascii() and name.isdigit() else image.users.get(name)
    if number is None or node.uid is None:
        raise CouldNotLook(f"image {image.shown}: which number {name!r} or the owner of {TESTBED} has stays unknown")
    return not may_write(number, _owner(node, node.uid))


def _owner(node: Node, uid: int) -> Owner:
    return Owner(path=TESTBED, uid=uid, gid=-1 if node.gid is None else node.gid, mode=node.mode)


def _shown(image: StoredImage) -> str:
    node = image.nodes[TESTBED]
    assert node is not None
    return f"{image.shown}: user {image.user!r}; {TESTBED} belongs to {node.uid}:{node.gid}, mode {node.mode:o}"
