"""What other Ray clusters have left on this node: the file that ray.init() follows, and running processes."""

import os
import re

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.machine.base import Absent, Machine, Unreadable, unless_absent
from skyrl_train.node.ray import address_file

DAEMONS = ("gcs_server", "raylet")
_PROCESS = re.compile(r"([1-9][0-9]{0,9}) (\S+)")
_JOB = re.compile(r"(?:^|/)job_([0-9]+)(?=/|$)", re.MULTILINE)
PGREP = ("pgrep", "-l", "-x", "|".join(DAEMONS))
PGREP_LIMIT_S = 2.0
MOST_PROCESSES = 64
_NONE_FOUND = 1


@record
class AddressFile:
    """`address` None: it is there and cannot be read. `uid` None: its owner cannot be told."""

    path: str
    address: str | None
    uid: int | None


@record
class RayProcess:
    """`jobs` are the Slurm jobs in whose control group it runs, as far as that can be told."""

    pid: int
    name: str
    uid: int
    jobs: frozenset[str] = frozenset()


@record(kw_only=True)
class RayClusters:
    """`processes` None: nobody could list them, for the reason in `hidden`. `closed`: Ray's directory, where this user may
    not write into it.
    """

    file: AddressFile | None = None
    processes: tuple[RayProcess, ...] | None = ()
    hidden: str = ""
    closed: AddressFile | None = None

    def of_job(self, job_id: str | None, uid: int) -> bool:
        """Whether this user's own Ray runs inside this very job."""
        return bool(job_id) and any(job_id in process.jobs and process.uid == uid for process in self.processes or ())

    def of_others(self, uid: int) -> tuple[RayProcess, ...]:
        return tuple(process for process in self.processes or () if process.uid != uid)


@record
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address | None:
    """`10.1.2.3:6379`, `ray://node:10001`, `[::1]:6379`; None where Ray too would find no host and port."""
    place = text.strip().removeprefix("ray://")
    host, _, port = place.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or any(character.isspace() or character == "/" for character in host):
        return None
    if not (port.isascii() and port.isdecimal() and len(port) <= 5 and 0 < int(port) <= 65535):
        return None
    return Address(host, int(port))


def parse_pgrep(text: str) -> tuple[tuple[int, str], ...]:
    """`pgrep -l`: an id and a name a line. Raises ValueError."""
    found = []
    for line in text.splitlines():
        match = _PROCESS.fullmatch(line.strip())
        if match is None:
            raise ValueError(f"no line of pgrep -l: {line[:80]!r}")
        found.append((int(match[1]), match[2]))
    return tuple(found)


def slurm_jobs(cgroup: str) -> frozenset[str]:
    """The jobs that a /proc/PID/cgroup names."""
    return frozenset(_JOB.findall(cgroup))


@probe(limit_s=4.0)
def ray_clusters(machine: Machine, environ: Environ, host: Host) -> RayClusters:
    """Reads where Ray left its address, and lists its processes. Nothing is connected to."""
    path = os.path.normpath(os.path.join(host.cwd, address_file(environ)))
    file, closed = _file(machine, path), _closed(machine, os.path.dirname(path))
    try:
        return RayClusters(file=file, processes=_processes(machine), closed=closed)
    except CouldNotLook as reason:
        return RayClusters(file=file, processes=None, hidden=str(reason), closed=closed)


def _closed(machine: Machine, directory: str) -> AddressFile | None:
    """The directory, where it is there and Ray could make no session in it."""
    found = unless_absent(lambda: machine.stat(directory))
    return None if found is None or machine.writable(directory) else AddressFile(directory, None, found.uid)


def _file(machine: Machine, path: str) -> AddressFile | None:
    try:
        address: str | None = machine.read(path, limit_bytes=4096).strip()
    except Absent:
        return None
    except Unreadable:
        address = None
    return AddressFile(path, address, _owner(machine, path))


def _owner(machine: Machine, path: str) -> int | None:
    try:
        return machine.stat(path).uid
    except (Absent, Unreadable):
        return None


def _processes(machine: Machine) -> tuple[RayProcess, ...]:
    listed = machine.run(PGREP, limit_s=PGREP_LIMIT_S)
    if listed.rc == _NONE_FOUND and not listed.out.strip():
        return ()
    if not listed.ok:
        raise CouldNotLook(listed.why)
    try:
        found = parse_pgrep(listed.out)
    except ValueError as error:
        raise CouldNotLook(f"{listed.command}: {error}") from None
    processes = (_process(machine, pid, name) for pid, name in found[:MOST_PROCESSES] if name in DAEMONS)
    return tuple(process for process in processes if process is not None)


def _process(machine: Machine, pid: int, name: str) -> RayProcess | None:
    """None where it ended meanwhile."""
    uid = _owner(machine, f"/proc/{pid}")
    if uid is None:
        return None
    try:
        groups = unless_absent(lambda: machine.read(f"/proc/{pid}/cgroup"))
    except Unreadable:
        groups = None
    return RayProcess(pid, name, uid, slurm_jobs(groups or ""))
