"""Reads the processes of this machine from /proc, and kills a process without hitting another that reuses its id."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection, Iterator

from skyrl_train.contracts.proc_stat import ProcessStat, parse_stat

_STEP_S = 0.02
_BEGINS_S, _LOOK_S = 0.5, 0.001
Belongs = Callable[[int], bool]


def pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def environ_of(pid: int) -> list[bytes]:
    """The NAME=value words of a process's environment, empty if it may not be read or the process has ended.

    A process that is starting a program has no environment for a moment, so the read is repeated.
    """
    path, limit = f"/proc/{pid}/environ", time.monotonic() + _BEGINS_S
    text, begins = read(path), True
    while not text and begins and os.access(path, os.R_OK) and time.monotonic() < limit:
        begins = _begins(pid)
        text = read(path)  # read again in any case: it may have started in between
        time.sleep(_LOOK_S if begins and not text else 0)
    return text.split(b"\0")


def _begins(pid: int) -> bool:
    """Whether a process is starting a program and has no environment yet."""
    found = stat_of(pid)
    return found is not None and found.is_loading


def lives(pid: int) -> bool:
    """Whether a process lives. A zombie does not."""
    found = stat_of(pid)
    return found is not None and not found.is_dead


def parents(pid: int) -> Iterator[int]:
    """Yields the process and all its ancestors."""
    while pid > 0:
        yield pid
        found = stat_of(pid)
        pid = found.parent if found is not None else 0


def others() -> list[int]:
    """Every process except the caller and its ancestors, which share our environment and its marks."""
    own = set(parents(os.getpid()))
    return [pid for pid in pids() if pid not in own]


def stat_of(pid: int) -> ProcessStat | None:
    """The state of a process from /proc/PID/stat, or None if there is no such process."""
    try:
        return parse_stat(read(f"/proc/{pid}/stat"))
    except ValueError:
        return None


def group_lives(group: int) -> bool:
    """Whether a process of this group lives."""
    found = (stat_of(pid) for pid in pids())
    return any(one is not None and one.group == group and not one.is_dead for one in found)


def listens(pid: int, number: signal.Signals) -> bool:
    """Whether a process handles this signal. Without a handler most signals would end it."""
    lines = (line.split() for line in read(f"/proc/{pid}/status").splitlines() if line.startswith(b"SigCgt:"))
    return any(int(line[1], 16) >> (number - 1) & 1 for line in lines)


def mounts_of(pid: "int | str") -> str:
    """The mount namespace of a process, empty if it may not be read."""
    try:
        return os.readlink(f"/proc/{pid}/ns/mnt")
    except OSError:
        return ""


def killed(pid: int, belongs: Belongs) -> bool:
    """Kills a process if it belongs; whether it was killed. Uses a pidfd, since the id may be reused after the test."""
    with contextlib.suppress(OSError):
        descriptor = os.pidfd_open(pid)
        try:
            if lives(pid) and belongs(pid):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                return True
        finally:
            os.close(descriptor)
    return False


def until_gone(ended: Collection[int], limit_s: float) -> None:
    """Waits until none of these runs, at most `limit_s`."""
    limit = time.monotonic() + limit_s
    while any(map(lives, ended)) and time.monotonic() < limit:
        time.sleep(_STEP_S)


def read(path: str) -> bytes:
    """Nothing where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
