"""The processes that pid files name, read from /proc."""

from typing import Any

from fakes.podman_store import FILE, XDG, Bare, store
from skyrl_doctor.facts.podman.database import Container, Database
from skyrl_doctor.facts.podman.processes import Monitored, PidFile, PodmanProcesses, Process
from skyrl_doctor.probes.podman.processes import podman_processes

OWN_NS = {"readlink /proc/self/ns/user": "user:[1]"}


STATUS = "Name:\tconmon\nState:\tS (sleeping)\nUid:\t1000\t1000\n"


def alive(pid: int, name: str = "conmon") -> dict[str, Any]:
    return {f"read /proc/{pid}/status": STATUS.replace("conmon", name), f"readlink /proc/{pid}/ns/user": "user:[2]"}


def process(pid: int, name: str = "conmon", user_ns: str | None = "user:[2]") -> Process:
    return Process(pid=pid, name=name, state="S", uid=1000, user_ns=user_ns)


def test_processes_of_the_pause_file_and_of_running_containers() -> None:
    up, paused, ended = (
        Container(id=f"c{state}", state=state, conmon_pid_file=f"/c{state}.pid") for state in (3, 5, 6)
    )
    machine = Bare(
        {
            **OWN_NS,
            f"read {XDG}/libpod/tmp/pause.pid": "7",
            f"stat {XDG}/libpod/tmp/alive": FILE,
            "read /c3.pid": "8\n",
            **alive(7, "podman pause"),
            **alive(8),
        }
    )
    assert podman_processes(machine, store(database=Database(path="x", containers=(up, paused, ended)))) == (
        PodmanProcesses(
            own_user_ns="user:[1]",
            uid=1000,
            pause=PidFile(path=f"{XDG}/libpod/tmp/pause.pid", text="7", pid=7, process=process(7, "podman pause")),
            fresh=False,
            running=(
                Monitored(container=up, conmon=PidFile(path="/c3.pid", text="8\n", pid=8, process=process(8))),
                Monitored(container=paused, conmon=None),
            ),
        )
    )


def test_pid_files_without_a_database_are_leftovers() -> None:
    containers = f"{XDG}/containers/overlay-containers"
    machine = Bare(
        {
            **OWN_NS,
            f"list {containers}": ["a", "b"],
            f"read {containers}/a/userdata/conmon.pid": "9",
            "read /proc/9/status": STATUS,
            "readlink /proc/9/ns/user": {"unreadable": "/proc/9/ns/user", "why": "Permission denied"},
        }
    )
    found = podman_processes(machine, store(database=Database(path="x", unread="x: Permission denied")))
    assert found == PodmanProcesses(
        own_user_ns="user:[1]",
        uid=1000,
        pause=None,
        fresh=True,
        leftover=(
            PidFile(path=f"{containers}/a/userdata/conmon.pid", text="9", pid=9, process=process(9, user_ns=None)),
        ),
    )
