"""The Python processes of the job on this node, with their ranks."""

import os
from collections.abc import Iterable, Mapping, Sequence

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine
from skyrl_train.contracts.proc_stat import ProcessStat, parse_stat

MOST = 64
MOST_SEEN = 20_000
ENVIRON_BYTES = 1 << 18
RANKS = ("RANK", "SLURM_PROCID")


@record(kw_only=True)
class JobProcess:
    """`rank` is "" where the process is no rank. `environ` is the one that it was started with."""

    pid: int
    name: str
    python: str
    rank: str = ""
    environ: Mapping[str, str]

    @property
    def title(self) -> str:
        return f"rank {self.rank} (process {self.pid})" if self.rank else f"{self.name} (process {self.pid})"


def of_job(machine: Machine, *, marks: Iterable[str], pids: Sequence[int], logs: Iterable[str]) -> list[JobProcess]:
    """The processes with one of these variables, those that write these logs, the named ones, and all their children."""
    stats = _stats(machine)
    wanted, written = set(marks), {os.path.realpath(path) for path in logs}
    own = (_ancestors(stats, os.getpid()) - set(pids)) | {os.getpid()}
    environs: dict[int, Mapping[str, str]] = {}
    found = set(pids)
    for pid in stats:
        environs[pid] = _environ(machine, pid)
        if any(f"{name}={value}" in wanted for name, value in environs[pid].items()) or _writes(machine, pid, written):
            found.add(pid)
    children = _with_children(stats, found - own) - own
    seen = ((pid, _python(machine, pid)) for pid in sorted(children) if pid in stats)
    pythons = [(pid, python) for pid, python in seen if python]
    return [
        JobProcess(pid=pid, name=stats[pid].name, python=python, rank=_rank(environs[pid]), environ=environs[pid])
        for pid, python in pythons[:MOST]
    ]


def _stats(machine: Machine) -> dict[int, ProcessStat]:
    """The living processes of this user."""
    found: dict[int, ProcessStat] = {}
    for name in machine.listdir("/proc")[:MOST_SEEN]:
        if not name.isdecimal():
            continue
        try:
            if machine.stat(f"/proc/{name}").uid != os.getuid():
                continue
            stat = parse_stat(machine.read(f"/proc/{name}/stat"))
        except (CouldNotLook, ValueError):
            continue
        if not stat.is_dead:
            found[int(name)] = stat
    return found


def _ancestors(stats: Mapping[int, ProcessStat], pid: int) -> set[int]:
    """The watch and the programs that started it, which are no part of the training unless they are named."""
    found: set[int] = set()
    while pid in stats and pid not in found:
        found.add(pid)
        pid = stats[pid].parent
    return found


def _with_children(stats: Mapping[int, ProcessStat], roots: set[int]) -> set[int]:
    found, more = set(roots), True
    while more:
        below = {pid for pid, stat in stats.items() if stat.parent in found} - found
        found |= below
        more = bool(below)
    return found


def _environ(machine: Machine, pid: int) -> Mapping[str, str]:
    try:
        data = machine.read_bytes(f"/proc/{pid}/environ", limit_bytes=ENVIRON_BYTES)
    except CouldNotLook:
        return {}
    pairs = (part.decode("utf-8", "replace").partition("=") for part in data.split(b"\0") if b"=" in part)
    return {name: value for name, _, value in pairs}


def _writes(machine: Machine, pid: int, logs: set[str]) -> bool:
    if not logs:
        return False
    for number in (1, 2):
        try:
            if machine.readlink(f"/proc/{pid}/fd/{number}") in logs:
                return True
        except CouldNotLook:
            continue
    return False


def _python(machine: Machine, pid: int) -> str:
    """The interpreter; "" for another program."""
    try:
        path = machine.readlink(f"/proc/{pid}/exe")
    except CouldNotLook:
        return ""
    return path if os.path.basename(path).startswith("python") else ""


def _rank(environ: Mapping[str, str]) -> str:
    if not environ.get("WORLD_SIZE") and "RANK" not in environ:
        return ""
    return next((environ[name] for name in RANKS if environ.get(name, "").isdecimal()), "")
