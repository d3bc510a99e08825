"""The processes that hold a store's user namespace: the pause process, and one conmon for each running container."""

import posixpath

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.podman.database import PAUSED, RUNNING, Container
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.machine.base import Absent, Machine, Unreadable, unless_absent
from skyrl_doctor.machine.paths import stat_or_none, text_or_none

OURS = ("podman", "podman pause", "catatonit", "conmon", "conmonrs")
"""What a process that holds Podman's namespace is called."""


@record(kw_only=True)
class Process:
    """A process as /proc shows it. `user_ns` is None where the kernel does not tell."""

    pid: int
    name: str
    state: str
    uid: int
    user_ns: str | None

    @property
    def zombie(self) -> bool:
        return self.state in ("Z", "X")


@record(kw_only=True)
class PidFile:
    """A file that names a process. `pid` None: it holds no number; `process` None: no such process."""

    path: str
    text: str
    pid: int | None
    process: Process | None


@record(kw_only=True)
class Monitored:
    """A container that the database calls running, and its conmon."""

    container: Container
    conmon: PidFile | None


@record(kw_only=True)
class PodmanProcesses:
    """`fresh`: libpod's `alive` file is missing, so Podman will take every container for stopped.

    `leftover` are conmon.pid files whose containers' state is not known.
    """

    own_user_ns: str
    uid: int
    pause: PidFile | None
    fresh: bool
    running: tuple[Monitored, ...] = ()
    leftover: tuple[PidFile, ...] = ()

    def holds_namespace(self, file: PidFile | None) -> bool:
        """Whether Podman can join the namespaces of the process that a file names."""
        process = file.process if file is not None else None
        if process is None or process.zombie or process.uid != self.uid:
            return False
        return process.user_ns is not None and process.user_ns != self.own_user_ns

    @property
    def reused(self) -> Process | None:
        """A living process of this user that has the pause process's number and is none. Podman would join it, and fails."""
        process = self.pause.process if self.pause is not None else None
        if process is None or process.zombie or process.uid != self.uid or process.user_ns is None:
            return None
        foreign = process.user_ns != self.own_user_ns and process.name not in OURS
        return process if foreign or process.user_ns == self.own_user_ns else None


def parse_pid(text: str) -> int | None:
    """What a pid file says; None where it is no number of a process."""
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and 0 < int(digits[:12]) < 1 << 31 else None


def parse_status(pid: int, text: str, user_ns: str | None) -> Process | None:
    """/proc/PID/status: `Name:\\tconmon`, `State:\\tS (sleeping)`, `Uid:\\t1000\\t1000\\t1000\\t1000`."""
    fields = {name: value.strip() for name, _, value in (line.partition(":") for line in text.splitlines())}
    state, uid = fields.get("State", ""), fields.get("Uid", "").split()
    if not state or not uid or not uid[0].isdigit():
        return None
    return Process(pid=pid, name=fields.get("Name", ""), state=state[0], uid=int(uid[0]), user_ns=user_ns)


@probe(limit_s=5.0)
def podman_processes(machine: Machine, store: PodmanStore) -> PodmanProcesses:
    """Looks up the processes that a store's pid files name, in /proc."""
    store.require_readable()
    places, database = store.places, store.database
    alive = [container for container in database.containers if container.state in (RUNNING, PAUSED)]
    return PodmanProcesses(
        own_user_ns=machine.readlink("/proc/self/ns/user"),
        uid=store.uid,
        pause=_pid_file(machine, store.pause_file),
        fresh=stat_or_none(machine, posixpath.join(places.tmp_dir, "alive")) is None,
        running=tuple(
            Monitored(container=container, conmon=_pid_file(machine, container.conmon_pid_file)) for container in alive
        ),
        leftover=() if database.known else _leftover(machine, f"{places.run_root}/{places.driver}-containers"),
    )


def _leftover(machine: Machine, directory: str) -> tuple[PidFile, ...]:
    names = unless_absent(lambda: machine.listdir(directory)) or ()
    files = (_pid_file(machine, f"{directory}/{name}/userdata/conmon.pid") for name in names)
    return tuple(file for file in files if file is not None)


def _pid_file(machine: Machine, path: str) -> PidFile | None:
    text = text_or_none(machine, path, limit_bytes=64) if path else None
    if text is None:
        return None
    pid = parse_pid(text)
    return PidFile(path=path, text=text, pid=pid, process=process(machine, pid) if pid is not None else None)


def process(machine: Machine, pid: int) -> Process | None:
    """The process of that number; None where there is none, or none any more."""
    try:
        status = machine.read(f"/proc/{pid}/status")
        user_ns = _user_ns(machine, pid)
    except Absent:
        return None
    return parse_status(pid, status, user_ns)


def _user_ns(machine: Machine, pid: int) -> str | None:
    try:
        return machine.readlink(f"/proc/{pid}/ns/user")
    except Unreadable:  # a process of another user
        return None
