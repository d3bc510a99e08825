"""Podman's pause process is dead, or another process has its pid.

## What it does
Reads the pid in `pause.pid` and the running containers in the store's database, and looks up both in /proc. It runs
no podman command.

## Why it breaks training
Rootless Podman keeps its user namespace alive in a pause process and in one conmon for each running container. When
Slurm ends a job it kills them all, but the store still lists the containers as running. In the next job the namespace
does not exist, and every podman command fails at once. If only the pause process died, or the containers were stopped
cleanly, Podman creates a new one.

## How to fix
`podman system migrate` creates a new pause process. It stops EVERY container of the store, so the doctor suggests it
only if none is alive. If another process has the pid, delete the file; `migrate` fails on it too. A store that only
one job uses has neither problem; `skyrl-doctor env` creates one.

## Example
    invalid internal status, try resetting the pause process with "podman system migrate": could not find any running
    process: no such process
"""

from collections.abc import Iterator

from checks.pod.shared import is_own, quoted
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.podman.processes import PodmanProcesses
from skyrl_doctor.facts.podman.store import PodmanStore

NO_CONMON = "could not find any running process"
LISTED = "Podman lists containers as running, but their processes are gone: the node restarted, or their job or service was killed"
RESET = "`podman system migrate`, as the user of these containers, marks them as stopped. It stops EVERY container of this user, so run it when none is needed. A container that stays in the state `stopping`: `podman rm -f NAME`. If it comes back after each restart, `podman info --format '{{.Store.RunRoot}}'` is not on a tmpfs: set `runroot` in `~/.config/containers/storage.conf` to a directory below `$XDG_RUNTIME_DIR`, which a restart empties."
CAUSE = "Podman's pause process was killed with an earlier job, but its pid file remains"

MIGRATE = "`podman system migrate` creates a new pause process. It stops EVERY container of this user, so run it when none is needed. If it fails in the same way, delete `$XDG_RUNTIME_DIR/libpod/tmp/pause.pid` first."

SIGNATURES = (
    Signature(
        pattern=rf"(?:invalid internal stat(?:us|e)\b[^\n]{{0,200}})?{NO_CONMON}: no such process",
        sample='level=error msg="invalid internal status, try resetting the pause process with \\"/usr/bin/podman system migrate\\": could not find any running process: no such process"',
        explain=LISTED,
        remedy=RESET,
        versions="podman",
    ),
    Signature(
        pattern=r"invalid internal status, (?:try resetting|unable to create)",
        unless=NO_CONMON,
        sample='level=error msg="invalid internal status, try resetting the pause process with \\"/usr/bin/podman system migrate\\": cannot join mount namespace: no such process"',
        explain=CAUSE,
        remedy=MIGRATE,
        versions="podman",
    ),
    Signature(
        pattern=r"pause\.pid: no such file or directory|cannot re-exec process to join the existing user namespace|\bcannot set user namespace\b",
        sample="Error: setting up the process: open libpod/tmp/pause.pid: no such file or directory",
        explain="Podman's pause process no longer exists",
        remedy=MIGRATE,
        versions="podman",
    ),
    Signature(
        pattern=r"\bcannot re-exec process\s*$",
        sample="Error: cannot re-exec process",
        explain="Podman cannot join its user namespace: mostly its pause process is gone, and the pid file remains",
        remedy="Without running containers: delete `$XDG_RUNTIME_DIR/libpod/tmp/pause.pid` (without XDG_RUNTIME_DIR it is below `/tmp/run-UID` or `/tmp/podman-run-UID`); Podman creates a new pause process. If it fails again, the user has no ids in /etc/subuid and /etc/subgid.",
        versions="podman <= 4.1",
    ),
    Signature(
        pattern=r"open /proc/\d+/ns/\w+: no such file|unable to create a new pause process|join(?:ing)? the (?:existing )?(?:user|mount) namespace.{0,80}(?:no such|failed|cannot)",
        sample="Error: unable to create a new pause process: open /run/user/1000/libpod/tmp/pause.pid: permission denied",
        explain=CAUSE,
        remedy=MIGRATE,
        versions="podman 4, 5",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\bpause process\b.{0,80}(?:dead|died|not running|gone|killed|stale|missing|no such)",
    sample="Error: the pause process is not running",
    explain=CAUSE,
    versions="any",
)

_NAMED = 5


@check("POD001", roles=[Role.RUNTIME], fix="skyrl_train/node/podman_store.py")
def pause_process_dead(store: PodmanStore, processes: PodmanProcesses, environ: Environ) -> Iterator[Finding]:
    if not store.rootless:
        raise NotApplicable("root's Podman has no pause process")
    if processes.reused is not None:
        yield _reused(store, processes, environ)
        return
    if processes.fresh or processes.holds_namespace(processes.pause):
        return
    if any(processes.holds_namespace(monitored.conmon) for monitored in processes.running):
        return
    if processes.running:
        yield _nobody_left(store, processes)
    elif processes.leftover and not any(map(processes.holds_namespace, processes.leftover)):
        raise CouldNotLook(
            f"{len(processes.leftover)} conmon.pid files name dead processes, such as {processes.leftover[0].path}; only the database records whether their containers were stopped cleanly: {store.database.unread or store.database.damage}"
        )


def _reused(store: PodmanStore, processes: PodmanProcesses, environ: Environ) -> Finding:
    process = processes.reused
    assert process is not None
    return Finding(
        message=(
            f"{store.pause_file} names pid {process.pid}, which is now {process.name!r}; expected Podman's pause process, or no such file"
        ),
        evidence=(
            f"pid {process.pid}: state {process.state}, {process.user_ns}; the doctor: {processes.own_user_ns}",
            "podman would fail with: cannot set user namespace, or: cannot join mount namespace",
        ),
        remedy=Remedy(
            kind=RemedyKind.RESET_STORE,
            summary="delete the file with the wrong pid; Podman creates a new pause process",
            commands=(quoted("rm", store.pause_file),),
            safe=is_own(store, environ),
        ),
    )


def _nobody_left(store: PodmanStore, processes: PodmanProcesses) -> Finding:
    pause = processes.pause
    seen = (
        f"pid {pause.pid} of {pause.path} no longer exists"
        if pause is not None
        else f"{store.pause_file} does not exist"
    )
    names = [found.container.name or found.container.id[:12] for found in processes.running]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return Finding(
        message=(
            f"the store lists {', '.join(names[:_NAMED])}{more} as running, but {seen} and no conmon is alive; expected a living process that holds Podman's namespace"
        ),
        evidence=tuple(
            f"{found.conmon.path}: pid {found.conmon.pid} is dead"
            for found in processes.running[:_NAMED]
            if found.conmon is not None
        ),
        remedy=Remedy(
            kind=RemedyKind.RESET_STORE,
            summary=(
                "create a new pause process; this stops every container of this store, and none is alive. For later jobs, give each job its own store"
            ),
            commands=("podman system migrate",),
        ),
    )
