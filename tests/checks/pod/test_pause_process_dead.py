"""POD001."""

from dataclasses import replace

import pytest

from checks.pod.pause_process_dead import pause_process_dead
from fakes.podman_store import STORE, XDG, store
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.podman.database import Container, Database
from skyrl_doctor.facts.podman.processes import Monitored, PidFile, PodmanProcesses, Process
from support import judge

PAUSE = f"{XDG}/libpod/tmp/pause.pid"
JOB = Environ({"SLURM_JOB_ID": "4711"})
ALIVE = Process(pid=7, name="podman pause", state="S", uid=1000, user_ns="user:[2]")
MIGRATE = Remedy(
    kind=RemedyKind.RESET_STORE,
    summary=(
        "create a new pause process; this stops every container of this store, and none is alive. For later jobs, give each job its own store"
    ),
    commands=("podman system migrate",),
)


def pid_file(process: Process | None, path: str = PAUSE) -> PidFile:
    return PidFile(path=path, text="7", pid=7, process=process)


def running(process: Process | None, name: str = "rollout") -> Monitored:
    conmon = pid_file(process, f"/{name}/conmon.pid")
    return Monitored(container=Container(id="a" * 64, name=name, state=3), conmon=conmon)


NOBODY = PodmanProcesses(own_user_ns="user:[1]", uid=1000, pause=pid_file(None), fresh=False, running=(running(None),))
DEAD = Finding(
    message=(
        f"the store lists rollout as running, but pid 7 of {PAUSE} no longer exists and no conmon is alive; expected a living process that holds Podman's namespace"
    ),
    evidence=("/rollout/conmon.pid: pid 7 is dead",),
    remedy=MIGRATE,
)


def judged(processes: PodmanProcesses, **changes: object) -> list[Finding]:
    return list(pause_process_dead(store(**changes), processes, JOB))


def test_finds_a_namespace_that_nobody_holds() -> None:
    assert judged(NOBODY) == [DEAD]
    many = replace(NOBODY, pause=None, running=tuple(running(None, f"r{number}") for number in range(7)))
    (found,) = judged(many)
    assert found.message == (
        f"the store lists r0, r1, r2, r3, r4 and 2 more as running, but {PAUSE} does not exist and no conmon is alive; expected a living process that holds Podman's namespace"
    )


@pytest.mark.parametrize(
    "healthy",
    [
        replace(NOBODY, pause=pid_file(ALIVE)),
        replace(NOBODY, running=(running(None), running(ALIVE))),
        replace(NOBODY, running=()),
        replace(NOBODY, fresh=True),
    ],
)
def test_is_silent_where_podman_starts(healthy: PodmanProcesses) -> None:
    """The pause process lives; a conmon lives; every container was stopped; the machine was started since."""
    assert judged(healthy) == []


@pytest.mark.parametrize("dead", [replace(ALIVE, state="Z"), replace(ALIVE, uid=0)])
def test_a_zombie_and_another_user_s_process_hold_nothing(dead: Process) -> None:
    (found,) = judged(replace(NOBODY, pause=pid_file(dead)))
    assert found.remedy == MIGRATE


def test_finds_a_number_that_another_process_has_now() -> None:
    stranger = replace(ALIVE, name="python", user_ns="user:[1]")
    assert judged(replace(NOBODY, pause=pid_file(stranger))) == [
        Finding(
            message=f"{PAUSE} names pid 7, which is now 'python'; expected Podman's pause process, or no such file",
            evidence=(
                "pid 7: state S, user:[1]; the doctor: user:[1]",
                "podman would fail with: cannot set user namespace, or: cannot join mount namespace",
            ),
            remedy=Remedy(
                kind=RemedyKind.RESET_STORE,
                summary="delete the file with the wrong pid; Podman creates a new pause process",
                commands=(f"rm {PAUSE}",),
                safe=True,
            ),
        )
    ]
    (shared,) = pause_process_dead(STORE, replace(NOBODY, pause=pid_file(stranger)), Environ({"SLURM_JOB_ID": "1"}))
    assert shared.remedy is not None
    assert not shared.remedy.safe


def test_a_database_that_cannot_be_read_leaves_it_unknown() -> None:
    unread = Database(path="db", unread="db: Permission denied")
    suspect = replace(NOBODY, running=(), leftover=(pid_file(None, "/c.pid"),))
    with pytest.raises(CouldNotLook) as reason:
        judged(suspect, database=unread)
    assert str(reason.value) == (
        "1 conmon.pid files name dead processes, such as /c.pid; only the database records whether their containers were stopped cleanly: db: Permission denied"
    )
    assert judged(replace(suspect, leftover=(pid_file(ALIVE),)), database=unread) == []


def test_root_has_no_pause_process() -> None:
    with pytest.raises(NotApplicable):
        judged(NOBODY, uid=0)


def test_reproduces_on_a_recording() -> None:
    outcome = judge("POD001", "pause_process_dead", role=Role.RUNTIME)
    (found,) = outcome.findings
    assert (outcome.status, found.remedy) == (Status.FAIL, MIGRATE)
    assert found.message == DEAD.message.replace("rollout", "rollout-17").replace("pid 7", "pid 8099")


def test_reproduces_the_reused_number_on_a_recording() -> None:
    (found,) = judge("POD001", "pause_pid_reused", role=Role.RUNTIME).findings
    assert (
        found.message
        == f"{PAUSE} names pid 9505, which is now 'sleep'; expected Podman's pause process, or no such file"
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("POD001", "clean_runtime_node", role=Role.RUNTIME) == Outcome(
        id="POD001", slug="pause-process-dead", status=Status.PASS
    )
    assert judge("POD001", "clean_gpu_node", role=Role.RUNTIME).reason == "podman is not installed here"
