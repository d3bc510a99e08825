"""What the kernel lets one process and one user have: /proc/self/limits."""

import re

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.host import Host
from skyrl_doctor.machine.base import Absent, Machine

_LINE = r"^{name}\s+(\S+)\s+(\S+)(?:\s+\S+)?\s*$"
_NUMBER = re.compile(r"[0-9]{1,20}")
LIMITS = "/proc/self/limits"
PS_LIMIT_S = 2.0


@record
class Limit:
    """A soft limit and the hard one that it may be raised to; None is without limit."""

    soft: int | None
    hard: int | None


@record(kw_only=True)
class Limits:
    """`threads` are those that this user runs on the node now, all jobs together; None where nobody could tell."""

    processes: Limit
    open_files: Limit
    threads: int | None = None


def parse_limits(text: str, *, threads: int | None = None) -> Limits:
    """proc(5): `Max processes   96365   96365   processes`. Raises ValueError."""
    return Limits(processes=_limit(text, "Max processes"), open_files=_limit(text, "Max open files"), threads=threads)


def parse_threads(text: str) -> int:
    """`ps -o nlwp=`: one number a process. Raises ValueError."""
    counts = text.split()
    if not counts or not all(_NUMBER.fullmatch(count) for count in counts):
        raise ValueError(f"no list of thread counts: {text[:80]!r}")
    return sum(int(count) for count in counts)


def _limit(text: str, name: str) -> Limit:
    found = re.findall(_LINE.format(name=name), text, re.MULTILINE)
    if len(found) != 1:
        raise ValueError(f"{len(found)} lines for {name!r}; wanted one")
    soft, hard = (_value(value, name) for value in found[0])
    return Limit(soft, hard)


def _value(text: str, name: str) -> int | None:
    if text == "unlimited":
        return None
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{name!r} is {text[:40]!r}; wanted a number or unlimited")
    return int(text)


@probe(limit_s=4.0)
def limits(machine: Machine, host: Host) -> Limits:
    """Reads the limits of this process, and how many threads its user runs on the node."""
    try:
        text = machine.read(LIMITS)
    except Absent:
        if host.system.startswith("Linux"):
            raise
        raise NotApplicable(f"{host.system} has no {LIMITS}") from None
    try:
        return parse_limits(text, threads=_threads(machine, host.uid))
    except ValueError as error:
        raise CouldNotLook(f"{LIMITS}: {error}") from None


def _threads(machine: Machine, uid: int) -> int | None:
    """None where ps is missing, wedged or says something else: the limits stand without it."""
    listed = machine.run(["ps", "-U", str(uid), "-o", "nlwp="], limit_s=PS_LIMIT_S)
    if not listed.ok:
        return None
    try:
        return parse_threads(listed.out)
    except ValueError:
        return None
