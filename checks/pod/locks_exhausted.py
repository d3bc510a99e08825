"""Podman has no free lock for a new container, or cannot open its locks.

## What it does
Counts the locks in libpod's shared memory segment and compares them with `num_locks` of containers.conf and with the
containers in the store.

## Why it breaks training
Every container takes one of `num_locks` (2048) locks in `/dev/shm/libpod_rootless_lock_UID`. All stores of a user
share that segment, and a deleted store never returns its locks. After some weeks of jobs no container can be created.
If `num_locks` was changed, the segment has the wrong size and every podman command fails.

## How to fix
`lock_type = "file"` in a store of the job has no limit and is not shared; `skyrl-doctor env` creates one. For the
existing segment: `podman system renumber` frees the locks that no container of this store has.

## Example
    Error: allocating lock for new container: allocation failed; exceeded num_locks (2048)
"""

from collections.abc import Iterator

from checks.pod.shared import isolate, quoted
from checks.vocabulary import NOT_ENOUGH
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.podman.locks import LockTable, PodmanLocks
from skyrl_doctor.facts.podman.store import PodmanStore

CAUSE = "Podman's locks are used up; `podman system renumber` frees those of removed containers"

SIGNATURES = (
    Signature(
        pattern=r"exceeded num_locks",
        sample="Error: allocating lock for new container: allocation failed; exceeded num_locks (2048)",
        explain=CAUSE,
        versions="podman",
    ),
    Signature(
        pattern=r"failed to (?:open|create) \d+ locks in /libpod|\ball locks have been allocated\b|\block ID \d{1,9} is too large\b|allocating lock for new (?:container|pod|volume)|no (?:more |free )locks available in libpod",
        sample="Error: failed to open 2048 locks in /libpod_rootless_lock_1000: numerical result out of range",
        explain="Podman's locks are used up or cannot be created; `podman system renumber` frees those of removed containers",
        remedy="As the user who started it (with `sudo` if it was), and while no other Podman runs: remove containers, pods and volumes that are not needed, since each has a lock, then `podman system renumber`. Are all of them needed? Raise `num_locks` in containers.conf, then renumber too.",
        versions="podman",
    ),
    Signature(
        pattern=r"\b(?:acquiring|retrieving) lock \d{1,6} for (?:container|pod|volume) .{1,120}: file exists\b",
        sample="Refreshing container 7a86ba26: error acquiring lock 101 for container 7a86ba26: file exists",
        explain="Podman's locks do not match its store: two containers have the same one, or an earlier Podman kept it",
        remedy="`podman system renumber` while no other Podman of this user runs, or restart the machine.",
        versions="podman",
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b(?:podman|container|libpod)\b.{{0,40}}\b{NOT_ENOUGH} (?:free )?locks\b|\b{NOT_ENOUGH} (?:podman|container|libpod) locks\b",
    sample="Error: container cannot be made: out of locks",
    explain=CAUSE,
    versions="any",
)

_NEARLY = 0.9
_ALONE = "only while no container of this user runs, because all stores of a user share the segment"


@check("POD005", roles=[Role.RUNTIME], fix="skyrl_train/node/podman_store.py")
def locks_exhausted(store: PodmanStore, locks: PodmanLocks, environ: Environ) -> Iterator[Finding]:
    table = locks.table
    if table is None:
        return
    if table.unknown:
        raise CouldNotLook(f"{locks.path}: {table.unknown}")
    if table.unusable:
        yield _unusable(locks, f"{locks.path} is not a lock segment: {table.unusable}; expected one, or no such file")
        return
    if table.total != locks.expected:
        yield _unusable(
            locks, f"{locks.path} has {table.total} locks; expected {locks.expected} (num_locks = {locks.configured})"
        )
        return
    if table.used >= _NEARLY * table.total:
        yield _full(store, locks, table, environ)


def _unusable(locks: PodmanLocks, message: str) -> Finding:
    return Finding(
        message=message,
        evidence=(f"podman would fail with: failed to open {locks.configured} locks",),
        remedy=Remedy(
            kind=RemedyKind.RESET_STORE,
            summary=f"remove the segment and renumber the containers, {_ALONE}",
            commands=(quoted("rm", locks.path), "podman system renumber"),
        ),
    )


def _full(store: PodmanStore, locks: PodmanLocks, table: LockTable, environ: Environ) -> Finding:
    known = "an unknown number" if locks.known is None else str(locks.known)
    return Finding(
        message=(
            f"{table.used} of {table.total} locks are in use, {known} of them by containers and pods of this store; expected fewer than {int(_NEARLY * table.total)}"
        ),
        evidence=(locks.path,),
        severity=Severity.ERROR if table.used >= table.total else Severity.WARNING,
        remedy=_free(store, locks, table, environ),
    )


def _free(store: PodmanStore, locks: PodmanLocks, table: LockTable, environ: Environ) -> Remedy:
    if locks.known is None:
        return isolate(store, environ, instead_of=", with a lock file for each container")
    if locks.known < table.used:
        return Remedy(
            kind=RemedyKind.RESET_STORE,
            summary=f"free the {table.used - locks.known} locks that no container of this store uses, {_ALONE}",
            commands=("podman system renumber",),
        )
    return Remedy(
        kind=RemedyKind.RESET_STORE,
        summary="remove the stopped containers of this store; this deletes the files in them",
        commands=("podman container prune --force",),
    )
