"""What /proc tells of the processes of this machine, and how one is ended that must not be another by then."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection, Iterator

_STEP_S = 0.02
_BEGINS_S, _LOOK_S = 0.5, 0.001
_KERNEL, _EXITS = 0x00200000, 0x00000004
"""Of a process's flags."""
Belongs = Callable[[int], bool]


def pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def environ_of(pid: int) -> list[bytes]:
    """The words NAME=value of its environment, as far as they may be read; those of the dead are gone.

    A process that begins a program has none for that moment, and must be known by it a moment later.
    """
    path, limit = f"/proc/{pid}/environ", time.monotonic() + _BEGINS_S
    text, begins = read(path), True
    while not text and begins and os.access(path, os.R_OK) and time.monotonic() < limit:
        begins = _begins(pid)
        text = read(path)  # once more in any case: it may have begun between the two looks
        time.sleep(_LOOK_S if begins and not text else 0)
    return text.split(b"\0")


def _begins(pid: int) -> bool:
    """Whether it lives and has no place for an environment yet: env_end of proc(5), which threads of the kernel never have."""
    fields = stat_of(pid)
    return len(fields) > 48 and lives(pid) and fields[48] == b"0" and not int(fields[6]) & (_KERNEL | _EXITS)


def lives(pid: int) -> bool:
    """Whether it runs: a zombie does not."""
    fields = stat_of(pid)
    return bool(fields) and fields[0] not in (b"Z", b"X")


def parents(pid: int) -> Iterator[int]:
    """The process itself, and all above it."""
    while pid > 0:
        yield pid
        fields = stat_of(pid)
        pid = int(fields[1]) if len(fields) > 1 else 0


def others() -> list[int]:
    """Every process but the caller and those above it: whoever started us has our environment, and its marks in it."""
    own = set(parents(os.getpid()))
    return [pid for pid in pids() if pid not in own]


def stat_of(pid: int) -> list[bytes]:
    """proc(5)'s fields from the third on, the state; a name may hold anything, so they are counted from its end."""
    return read(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def listens(pid: int, number: signal.Signals) -> bool:
    """Whether it has a handler for this signal, without which most signals end it: while it starts, or has none at all."""
    lines = (line.split() for line in read(f"/proc/{pid}/status").splitlines() if line.startswith(b"SigCgt:"))
    return any(int(line[1], 16) >> (number - 1) & 1 for line in lines)


def mounts_of(pid: "int | str") -> str:
    """Its mount namespace; nothing where that may not be known."""
    try:
        return os.readlink(f"/proc/{pid}/ns/mnt")
    except OSError:
        return ""


def killed(pid: int, belongs: Belongs) -> bool:
    """By a descriptor: a number may be another's between the look and the signal."""
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
    limit = time.monotonic() + limit_s
    while any(map(lives, ended)) and time.monotonic() < limit:
        time.sleep(_STEP_S)


def read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
