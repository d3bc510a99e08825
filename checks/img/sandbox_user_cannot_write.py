"""The sandbox user cannot write to the task's files.

## What it does
Derives the user of a sandbox from the image's user and `sandbox.run_as_root`, and compares it with the owner and mode
of `/testbed` in the image.

## Why it breaks training
The files of R2E-Gym's images belong to root. Images with an agent server run as user 10001. The agent then cannot
edit a file, every test fails as before, and every rollout gets reward 0.

## How to fix
`sandbox.run_as_root = true`: inside a rootless container, root has only your own rights. Or build the image so that
this user owns the files.

## Example
    mkdir: cannot create directory '/root/.venv': Permission denied
"""

from collections.abc import Iterator

from checks.img.shared import inject_of, looked_into
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.images.stored import TESTBED, Node, StoredImage, StoredImages
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.image_user import Owner, may_write, user_of

KEY = "sandbox.run_as_root"
CAUSE = "the sandbox user cannot write there; run it as root inside rootless Podman"

SIGNATURES = (
    Signature(
        pattern=r"(?:mkdir|touch|mv|cp|ln|rm|chmod|chown|tee|bash|sh|find|tar): .{0,160}(?:/root|/testbed|/usr/local/bin|/r2e_tests).{0,160}Permission denied",
        sample="mkdir: cannot create directory '/root/.venv': Permission denied",
        explain=CAUSE,
        versions="openhands-agent-server",
    ),
    Signature(
        pattern=r"Permission denied: '/(?:root|usr/local)/|(?:could not lock config file|cannot create|[Uu]nable to create|failed to create) .{0,20}/(?:root|testbed|usr/local)\S{0,120}:? Permission denied|cannot (?:touch|remove|open|move) .{0,80}/(?:root|testbed)/\S{0,120}: Permission denied|\b(?:sh|bash|tee): (?:line )?(?:\d+: )?/(?:root|testbed)/\S{1,160}: Permission denied|[ '`\"]/(?:testbed|r2e_tests)(?:/\S{1,160})?: Permission denied|changing ownership of .{1,4}/(?:testbed|root|r2e_tests)\b.{0,200}: Operation not permitted|insufficient permission for adding an object to repository database",
        sample="PermissionError: [Errno 13] Permission denied: '/root/.venv/bin/python'",
        explain=CAUSE,
        versions="python, git",
    ),
    Signature(
        pattern=r"dubious ownership in repository at '/(?:testbed|r2e_tests)\b",
        sample="fatal: detected dubious ownership in repository at '/testbed'",
        explain=CAUSE,
        versions="git",
    ),
    # A trainer that is refused the same path on its own machine is AGT012; here the server in the sandbox is at work.
    Signature(
        pattern=r"Permission denied: '/(?:testbed|r2e_tests|workspace)\b",
        sample="PermissionError: [Errno 13] Permission denied: '/workspace/conversations'",
        explain="the sandbox user cannot write there, because the image's files belong to another user",
        versions="openhands-agent-server",
        near=r"\bagent[_-]server[/.]|\bsandboxd\b",
        within=30,
        refines=("AGT012",),
    ),
    Signature(
        pattern=r"could not (?:lock|write|open) config file \S{0,200}: Permission denied",
        sample="error: could not write config file /root/.gitconfig: Permission denied",
        explain=CAUSE,
        versions="git",
    ),
    # A trainer may live in /workspace too: only what a command in a container prints is about the sandbox.
    Signature(
        pattern=r"\b(?:ls|touch|mkdir|cp|mv|rm|tee|sh|bash): (?:line \d{1,5}: )?(?:cannot [\w ]{4,30} )?['\"`]?/workspace\b[^\s:]{0,200}: Permission denied",
        sample="touch: cannot touch '/workspace/notes.txt': Permission denied",
        explain="the sandbox user may not use /workspace: it belongs to another user",
        remedy="`stat -c '%u %a' DIR` on the host directory that is mounted there, and `id` in the container, print the two users. Start a rootless container with `--userns=keep-id:uid=UID,gid=GID` of the image's user, or let `podman unshare chown -R UID:GID DIR` give it the files.",
        versions="podman, docker",
        near=r"\b(?:podman|docker) (?:exec|run)\b",
        within=5,
        last_resort=True,
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:cannot|can't|could not|unable to|may not) write (?:to |in |into )?[^\n]{0,20}/(?:testbed|r2e_tests)\b|\bsandbox user\b.{0,80}(?:cannot|may not|no permission|not allowed)",
    sample="ERROR sandbox user 10001 cannot write to /testbed",
    explain=CAUSE,
    versions="any",
)


@check("IMG007", roles=[Role.RUNTIME], fix="skyrl_train/contracts/sandbox/image_user.py")
def sandbox_user_cannot_write(plan: Plan, stored: StoredImages) -> Iterator[Finding]:
    as_root = inject_of(plan) is not None and plan.flag(KEY) is not False
    images = looked_into(stored)
    shut = [image for image in images if _is_shut_out(image, as_root=as_root)]
    if shut:
        first = shut[0]
        yield config_finding(
            f"{len(shut)} of {len(images)} images would run as user {user_of(first.user, as_root=as_root)!r}, who cannot write to {TESTBED}: {first.label}; expected root or the owner of its files",
            plan.place(KEY),
            plan.settings({KEY: "true"}) if inject_of(plan) is not None else None,
            summary="run sandboxes as root: inside a rootless container, root has only your own rights",
            evidence=(_shown(first),),
        )


def _is_shut_out(image: StoredImage, *, as_root: bool) -> bool:
    name = user_of(image.user, as_root=as_root)
    if name == "0":
        return False
    if TESTBED not in image.nodes:
        raise CouldNotLook(f"image {image.label}: {image.unread[0] if image.unread else TESTBED}")
    node = image.nodes[TESTBED]
    if node is None:
        return False
    number = int(name) if name.isascii() and name.isdigit() else image.users.get(name)
    if number is None or node.uid is None:
        raise CouldNotLook(f"image {image.label}: the uid of {name!r} or the owner of {TESTBED} is unknown")
    return not may_write(number, _owner(node, node.uid))


def _owner(node: Node, uid: int) -> Owner:
    return Owner(path=TESTBED, uid=uid, gid=-1 if node.gid is None else node.gid, mode=node.mode)


def _shown(image: StoredImage) -> str:
    node = image.nodes[TESTBED]
    assert node is not None
    return f"{image.label}: user {image.user!r}; {TESTBED} belongs to {node.uid}:{node.gid}, mode {node.mode:o}"
