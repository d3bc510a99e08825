"""A process holds a lock of the store, so every podman command hangs.

## What it does
Asks the kernel which process holds the locks of the store (`F_GETLK`, which takes no lock), and asks again half a
second later. A lock that the same process holds both times is reported, with the process and its command.

## Why it breaks training
`podman ps`, `images`, `info`, `run` and even `podman system migrate` hang while one of these locks is held, and print
nothing. A podman that was stopped with Ctrl-Z, or one that waits for a dead file system, holds them forever. The
runtime server reports no error, but its sandboxes never start.

## How to fix
End the process in the finding. A podman that pulls or removes a large image may hold a lock for a while: wait for it.
If the kernel names no process, it is on another node or in another container: give the job its own store.

## Example
    $ timeout 20 podman ps; echo $?
    124
"""

from collections.abc import Iterator

from checks.pod.shared import isolate, quoted
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.podman.locks import HeldLock, PodmanHeldLocks
from skyrl_doctor.facts.podman.store import PodmanStore

_WORKERS = ("podman", "buildah", "skopeo", "exe")
_STOPPED = ("T", "t")


@check("POD007", roles=[Role.RUNTIME], fix="skyrl_train/node/podman_store.py")
def store_locked(store: PodmanStore, locks: PodmanHeldLocks, environ: Environ) -> Iterator[Finding]:
    if locks.unread and not locks.held:
        raise CouldNotLook(f"it is unknown which process holds the store's locks: {'; '.join(locks.unread)}")
    for pid in dict.fromkeys(lock.pid for lock in locks.held):
        held = tuple(lock for lock in locks.held if lock.pid == pid)
        yield _finding(store, held, locks.apart_s, environ)


def _finding(store: PodmanStore, held: tuple[HeldLock, ...], apart_s: float, environ: Environ) -> Finding:
    first = held[0]
    at_work = first.name in _WORKERS and first.state not in _STOPPED
    stopped = ", which is stopped," if first.state in _STOPPED else ""
    return Finding(
        message=(
            f"{first.holder}{stopped} has held {', '.join(lock.path for lock in held)} for {apart_s:g} s or longer, and every podman command waits for it; expected a free lock"
        ),
        severity=Severity.WARNING if at_work else Severity.ERROR,
        remedy=_remedy(store, first, environ, at_work=at_work),
    )


def _remedy(store: PodmanStore, lock: HeldLock, environ: Environ, *, at_work: bool) -> Remedy:
    if lock.pid is None:
        return isolate(store, environ)
    signal = ("-KILL",) if lock.state in _STOPPED else ()
    summary = "wait until it is done, or end it" if at_work else "end the process that holds the lock"
    return Remedy(kind=RemedyKind.RETRY, summary=summary, commands=(quoted("kill", *signal, str(lock.pid)),))
