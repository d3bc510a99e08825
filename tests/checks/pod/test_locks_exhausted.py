"""POD005."""

import pytest

from checks.pod.locks_exhausted import locks_exhausted
from checks.pod.shared import isolate
from fakes.podman_store import STORE
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.podman.locks import LockTable, PodmanLocks
from support import judge

SHM = "/dev/shm/libpod_rootless_lock_1000"
JOB = Environ({"SLURM_JOB_ID": "4711"})
ALONE = "only while no container of this user runs, because all stores of a user share the segment"
REMOVE = Remedy(
    kind=RemedyKind.RESET_STORE,
    summary=f"remove the segment and renumber the containers, {ALONE}",
    commands=(f"rm {SHM}", "podman system renumber"),
)


def judged(table: LockTable | None, *, configured: int = 32, known: int | None = 1) -> list[Finding]:
    locks = PodmanLocks(kind="shm", path=SHM, configured=configured, table=table, known=known)
    return list(locks_exhausted(STORE, locks, JOB))


def full(known: int | None, used: int = 32) -> Finding:
    shown = "an unknown number" if known is None else str(known)
    remedies = {
        None: isolate(STORE, JOB, instead_of=", with a lock file for each container"),
        1: Remedy(
            kind=RemedyKind.RESET_STORE,
            summary=f"free the {used - 1} locks that no container of this store uses, {ALONE}",
            commands=("podman system renumber",),
        ),
        32: Remedy(
            kind=RemedyKind.RESET_STORE,
            summary="remove the stopped containers of this store; this deletes the files in them",
            commands=("podman container prune --force",),
        ),
    }
    return Finding(
        message=f"{used} of 32 locks are in use, {shown} of them by containers and pods of this store; expected fewer than 28",
        evidence=(SHM,),
        severity=Severity.ERROR if used == 32 else Severity.WARNING,
        remedy=remedies[known],
    )


@pytest.mark.parametrize("known", [1, 32, None])
def test_finds_that_no_lock_is_left(known: int | None) -> None:
    assert judged(LockTable(total=32, used=32), known=known) == [full(known)]


def test_few_locks_left_is_a_warning() -> None:
    assert judged(LockTable(total=32, used=29)) == [full(1, 29)]
    assert judged(LockTable(total=32, used=28)) == []


def test_finds_a_segment_that_podman_does_not_open() -> None:
    assert judged(LockTable(total=32, used=0), configured=2048) == [
        Finding(
            message=f"{SHM} has 32 locks; expected 2048 (num_locks = 2048)",
            evidence=("podman would fail with: failed to open 2048 locks",),
            remedy=REMOVE,
        )
    ]
    assert judged(LockTable(unusable="it has 0 bytes")) == [
        Finding(
            message=f"{SHM} is not a lock segment: it has 0 bytes; expected one, or no such file",
            evidence=("podman would fail with: failed to open 32 locks",),
            remedy=REMOVE,
        )
    ]


def test_a_segment_that_cannot_be_counted_is_unknown() -> None:
    with pytest.raises(CouldNotLook, match=r"^/dev/shm/libpod_rootless_lock_1000: its 5 bytes$"):
        judged(LockTable(unknown="its 5 bytes"))


def test_no_segment_yet_is_no_fault() -> None:
    assert judged(None) == []


def test_reproduces_on_a_recording() -> None:
    assert judge("POD005", "locks_exhausted", role=Role.RUNTIME) == Outcome(
        id="POD005", slug="locks-exhausted", status=Status.FAIL, findings=(full(1),)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("POD005", "clean_runtime_node", role=Role.RUNTIME) == Outcome(
        id="POD005", slug="locks-exhausted", status=Status.PASS
    )
