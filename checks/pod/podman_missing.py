"""Podman is not installed on a node that must start sandboxes.

## What it does
Looks for `podman` in the `PATH` of a machine that is examined as a runtime node (`--role runtime`, as the runtime job of a
launch does). Without `--role` it does not apply: most CPU nodes need no Podman.

## Why it breaks training
The sandbox runtime ends when it starts, after the trainer has taken its GPU and waits for sandboxes.

## How to fix
Ask the administrators to install Podman on every sandbox node, or run the runtime job where it is
(`slurm.cpu_partition`, `slurm.exclude`). If your own `--runtime-command` needs no Podman, the gate leaves this check out.

## Example
    FileNotFoundError: [Errno 2] No such file or directory: 'podman'
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.host import Host, Roles
from skyrl_doctor.facts.podman.program import Podman

CAUSE = "Podman is not installed on the node of the sandboxes"

SIGNATURES = (
    Signature(
        pattern=r"FileNotFoundError: .{0,40}No such file or directory: '(?:/\S{0,100}/)?podman'|\bskyrl-train \w[\w ]{0,30}: (?:error: )?podman (?:is not installed here; run|cannot be started: \[Errno 2\])",
        sample="FileNotFoundError: [Errno 2] No such file or directory: 'podman'",
        explain=CAUSE,
        versions="python, skyrl-train",
    ),
    Signature(
        pattern=r"(?:^|[\s:])podman: (?:command )?not found\s*$|\bexec: \"podman\": executable file not found in \$PATH|\bzsh: command not found: podman\s*$|\b(?:env|nohup|time|timeout|exec|sudo|xargs): (?:failed to run command )?[^\w\s/]{0,3}podman[^\w\s/]{0,3}: [^\n]{0,40}(?:No such file or directory|not found)",
        sample="/var/spool/slurmd/job4711/slurm_script: line 9: podman: command not found",
        explain=CAUSE,
        versions="bash, dash",
    ),
    Signature(
        pattern=r"\bslurmstepd(?:-\S{1,64})?: error: execve\(\): (?:/\S{1,200}/)?podman: No such file or directory",
        sample="slurmstepd: error: execve(): podman: No such file or directory",
        explain=CAUSE,
        versions="slurm",
        refines=("ENV023",),
    ),
)


@check("POD011", roles=[Role.RUNTIME], fix="operator: only an administrator installs programs")
def podman_missing(podman: Podman | None, roles: Roles, host: Host) -> Iterator[Finding]:
    if podman is not None:
        return
    if not roles.asked:
        raise NotApplicable("podman is not installed here, and the role runtime was not requested")
    yield Finding(
        message=f"podman is not in the PATH of {host.name}; expected it, because it starts the sandboxes",
        remedy=Remedy(
            kind=RemedyKind.ASK_ADMIN,
            summary="ask for the package podman on every sandbox node, or exclude this node (slurm.exclude)",
            commands=(f"sbatch --exclude={host.name} …",),
        ),
    )
