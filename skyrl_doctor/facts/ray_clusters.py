"""What other Ray clusters have left on this node: the file that ray.init() follows, and running processes."""

import re

from skyrl_doctor.core.record import record

DAEMONS = ("gcs_server", "raylet")
_PROCESS = re.compile(r"([1-9][0-9]{0,9}) (\S+)")
_JOB = re.compile(r"(?:^|/)job_([0-9]+)(?=/|$)", re.MULTILINE)


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
