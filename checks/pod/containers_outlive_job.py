"""Containers of an ended job still run on this node.

## What it does
Looks into the stores of this user's other jobs (`/tmp/skyrl-UID-JOB`) for containers with a live conmon, asks Slurm
whether that job still runs, and looks in this job's own store for containers older than the job.

## Why it breaks training
Podman's conmon leaves the job's step, so Slurm may not kill it and its container at the end of the job. They keep
CPUs, memory and ports of the node, and sites drain a node with leftover processes. In the job's own store they also
keep the store's names and namespace.

## How to fix
End them by their process ids. `skyrl-train runtime serve` removes the containers of an earlier server before it
starts, and its own when it ends.

## Example
    slurmd: error: Job step 4711.batch still has processes; draining node
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.podman.leftovers import ForeignStore, Leftovers
from skyrl_doctor.facts.podman.processes import Monitored, PodmanProcesses

_NAMED = 8
_STARTED = "SLURM_JOB_START_TIME"


@check("POD004", roles=[Role.RUNTIME], fix="skyrl_train/sandbox/runtime/podman/leftovers.py")
def containers_outlive_job(leftovers: Leftovers, processes: PodmanProcesses, environ: Environ) -> Iterator[Finding]:
    yield from (_of_another(store) for store in leftovers.stores if store.over)
    older = _older_than_the_job(processes, environ)
    if older:
        yield _of_this_store(older)
    unknown = [store for store in leftovers.stores if store.over is None]
    if unknown and not older and not any(store.over for store in leftovers.stores):
        raise CouldNotLook(
            f"it is unknown whether job {unknown[0].job_id} of {unknown[0].path} has ended: {unknown[0].why}"
        )


def _of_another(store: ForeignStore) -> Finding:
    pids = [str(process.pid) for process in store.alive]
    return Finding(
        message=(f"{len(pids)} containers of the ended job {store.job_id} still run in {store.path}; expected none"),
        evidence=tuple(f"pid {process.pid}: {process.name}" for process in store.alive[:_NAMED]),
        remedy=Remedy(
            kind=RemedyKind.RESET_STORE,
            summary="end them; the container ends with its conmon. Then remove the store",
            commands=(f"kill {' '.join(pids)}", f"podman unshare rm -rf {store.path}"),
        ),
        severity=Severity.WARNING,
    )


def _of_this_store(older: list[Monitored]) -> Finding:
    names = ", ".join(found.container.name or found.container.id[:12] for found in older[:_NAMED])
    return Finding(
        message=f"{len(older)} containers of this store are older than this job and still run: {names}; expected none",
        remedy=Remedy(
            kind=RemedyKind.RESET_STORE,
            summary="remove them, and give the job its own store",
            commands=(f"podman rm --force {' '.join(found.container.id[:12] for found in older)}",),
        ),
    )


def _older_than_the_job(processes: PodmanProcesses, environ: Environ) -> list[Monitored]:
    began = environ.get(_STARTED, "")
    if not (began.isascii() and began.isdigit()):
        return []
    return [
        found
        for found in processes.running
        if found.container.created is not None
        and found.container.created < int(began)
        and processes.holds_namespace(found.conmon)
    ]
