"""POD004."""

from dataclasses import replace

import pytest

from checks.pod.containers_outlive_job import containers_outlive_job
from fakes.images import MOUNT
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.podman.database import Container
from skyrl_doctor.facts.podman.leftovers import ForeignStore, Leftovers
from skyrl_doctor.facts.podman.processes import Monitored, PidFile, PodmanProcesses, Process
from support import judge

CONMON = Process(pid=28810, name="conmon", state="S", uid=1000, user_ns="user:[2]")
STORE = ForeignStore(path="/tmp/skyrl-1000-4602/podman", job_id="4602", alive=(CONMON,), over=True)
NONE = PodmanProcesses(own_user_ns="user:[1]", uid=1000, pause=None, fresh=False)
JOB = Environ({"SLURM_JOB_ID": "4711", "SLURM_JOB_START_TIME": "2000"})
FOUND = Finding(
    message="1 containers of the ended job 4602 still run in /tmp/skyrl-1000-4602/podman; expected none",
    evidence=("pid 28810: conmon",),
    remedy=Remedy(
        kind=RemedyKind.RESET_STORE,
        summary="end them; the container ends with its conmon. Then remove the store",
        commands=("kill 28810", "podman unshare rm -rf /tmp/skyrl-1000-4602/podman"),
    ),
    severity=Severity.WARNING,
)


def running(created: float | None) -> PodmanProcesses:
    file = PidFile(path="/x/conmon.pid", text="28810", pid=28810, process=CONMON)
    container = Container(id="abcdef0123456789", name="old", state=3, created=created)
    return replace(NONE, running=(Monitored(container=container, conmon=file),))


def test_finds_containers_of_a_job_that_is_over() -> None:
    assert list(containers_outlive_job(Leftovers(stores=(STORE,)), NONE, JOB)) == [FOUND]


def test_a_job_that_runs_beside_this_one_is_no_fault() -> None:
    assert list(containers_outlive_job(Leftovers(stores=(replace(STORE, over=False),)), NONE, JOB)) == []


def test_a_job_that_slurm_does_not_speak_of_is_unknown() -> None:
    silent = Leftovers(stores=(replace(STORE, over=None, why="squeue: no such command"),))
    with pytest.raises(
        CouldNotLook, match=r"^it is unknown whether job 4602 of /tmp/.* has ended: squeue: no such command$"
    ):
        list(containers_outlive_job(silent, NONE, JOB))


def test_finds_containers_of_this_store_that_are_older_than_the_job() -> None:
    assert list(containers_outlive_job(Leftovers(), running(1999.0), JOB)) == [
        Finding(
            message="1 containers of this store are older than this job and still run: old; expected none",
            remedy=Remedy(
                kind=RemedyKind.RESET_STORE,
                summary="remove them, and give the job its own store",
                commands=("podman rm --force abcdef012345",),
            ),
        )
    ]
    for processes, environ in ((running(2001.0), JOB), (running(None), JOB), (running(1999.0), Environ({}))):
        assert list(containers_outlive_job(Leftovers(), processes, environ)) == []


def test_reproduces_on_a_recording() -> None:
    assert judge("POD004", "containers_outlive_job", plan=MOUNT, role=Role.RUNTIME) == Outcome(
        id="POD004", slug="containers-outlive-job", status=Status.FAIL, findings=(FOUND,)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("POD004", "clean_runtime_node", plan=MOUNT, role=Role.RUNTIME) == Outcome(
        id="POD004", slug="containers-outlive-job", status=Status.PASS
    )
