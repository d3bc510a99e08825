"""Enforces the limits of the whole sandbox if the engine cannot: with cgroups of version 1 rootless Podman accepts limits
and ignores them.

As the first process of its namespace sandboxd sees all others, and may kill them all at once. That ends the command
that exceeded the limit; sandboxd and the other sandboxes continue.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable

from skyrl_train.contracts.sandboxd_api import LIMIT
from skyrl_train.sandbox.sandboxd.socket_memory import socket_kib

STEP_S = 0.02
_LOOK_EVERY = 5
"""In steps. In between, only the namespace's last process id is read, which reveals a burst."""
_QUIET_S = 1.0
_AFTERMATH_S = 10.0
"""Time in which dead processes of a burst may still exist."""
_SHARED_EVERY = 5
_MEMORY_FILE_SYSTEMS = ("/dev/shm", "/dev")  # noqa: S108 - the sandbox's own
_SEGMENTS = "/proc/sysvipc/shm"
_KILLED = 137
_MOST_DESCRIPTORS = 4096
_PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024


class LimitEnforcer:
    """Checks all processes of the namespace; 0: no limit."""

    def __init__(self, *, processes: int, memory_mib: int, log: Callable[[str], None]) -> None:
        self._processes = processes
        self._memory_kib = memory_mib * 1024
        self._log = log
        self._acted = -_AFTERMATH_S
        self._said = ""
        self._looks = self._shared = 0
        self._emptied = False
        """All processes were killed because of memory that belongs to none of them."""

    def start(self) -> None:
        """Starts only as the first process: otherwise the other processes belong to others."""
        if os.getpid() == 1 and (self._processes or self._memory_kib):
            threading.Thread(target=self._watch, name="enforcer", daemon=True).start()

    def said_since(self, began: float) -> str:
        """The limit exceeded since this time (of time.monotonic), to explain the end of a command."""
        return self._said if self._acted >= began else ""

    def _watch(self) -> None:
        seen, steps = _last_pid(), 0
        while True:
            time.sleep(STEP_S)
            last, steps = _last_pid(), steps + 1
            if 0 <= last - seen <= self._processes // 4 and steps % _LOOK_EVERY:
                continue
            seen = last
            pids = _others(self._processes, living=time.monotonic() - self._acted < _AFTERMATH_S)
            if self._processes and len(pids) > self._processes:
                self._end_all()
            elif self._memory_kib and not steps % _LOOK_EVERY:
                self._weigh(pids)

    def _end_all(self) -> None:
        """Kills all in one call: processes killed one by one would fork again meanwhile."""
        self._end(-1, f"more than the limit of {self._processes} processes: all were killed")

    def _weigh(self, pids: list[int]) -> None:
        """Checks the quick figure first, then the exact one, which counts shared pages once."""
        if sum(_resident_kib(pid) for pid in pids) + self._shared_kib(pids) <= self._memory_kib:
            return
        weights = {pid: _proportional_kib(pid) for pid in pids}
        held = {pid: _memory_files(pid) for pid in pids}
        mapped = sum(_rollup_kib(pid, "Pss_Shmem:") for pid in pids)
        left = _left_kib()
        total = sum(weights.values()) + max(0, _sum_of(held.values()) + left - mapped)
        for pid, files in held.items():
            weights[pid] += sum(files.values())
        if total <= self._memory_kib:
            return
        if left > self._memory_kib // 2:
            self._empty(total)
            return
        heaviest = max(weights, key=lambda pid: weights[pid])
        limit = self._memory_kib // 1024
        self._end(
            heaviest,
            f"{total // 1024} MiB of memory, more than the limit of {limit} MiB: the largest process was killed",
        )

    def _shared_kib(self, pids: list[int]) -> int:
        """Shared memory, which no process has as its own. Looking through all descriptors takes long, so not each time."""
        self._looks += 1
        if self._looks % _SHARED_EVERY == 0:
            self._shared = _sum_of(_memory_files(pid) for pid in pids) + _left_kib()
            self._emptied = self._emptied and self._shared > self._memory_kib // 2
        return self._shared + sum(_status_kib(pid, "RssShmem:") for pid in pids)

    def _empty(self, total: int) -> None:
        """Sockets end with the processes that have them. Files and segments stay, and with them the sandbox must end."""
        what = f"{total // 1024} MiB of memory, more than the limit of {self._memory_kib // 1024} MiB, most of it in "
        if not self._emptied:
            self._emptied = True
            self._shared = 0
            self._end(-1, f"{what}sockets, segments and files of memory: all processes were killed")
        elif time.monotonic() - self._acted > _QUIET_S:
            self._log(f"{LIMIT}{what}segments and files that outlived all processes: the sandbox was ended")
            os._exit(_KILLED)

    def _end(self, pid: int, said: str) -> None:
        """Reports before killing: a reader may ask at once for the reason, and this process may end with the others."""
        now = time.monotonic()
        if now - self._acted > _QUIET_S:
            self._log(LIMIT + said)
        self._said = said
        self._acted = now
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _others(most: int, *, living: bool) -> list[int]:
    """Stops counting at the limit: each entry lets another thread run first, and in a burst one is always reaping.
    `living`: without processes that only wait to be reaped."""
    pids = []
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit() and entry.name != "1" and not (living and _is_dead(entry.name)):
                pids.append(int(entry.name))
            if most and len(pids) > most:
                break
    return pids


def _is_dead(pid: str) -> bool:
    """By the state in /proc/PID/stat. sandboxd cannot import the trainer's parser and has this one."""
    return _read(f"/proc/{pid}/stat").rpartition(")")[2].split()[:1] in ([], ["Z"], ["X"])


def _last_pid() -> int:
    """The namespace's last process id."""
    words = _read("/proc/loadavg").split()
    return int(words[-1]) if words else 0


def _resident_kib(pid: int) -> int:
    """Without memory shared with files."""
    text = _read(f"/proc/{pid}/statm").split()
    return (int(text[1]) - int(text[2])) * _PAGE_KIB if len(text) > 2 else 0


def _proportional_kib(pid: int) -> int:
    return _rollup_kib(pid, "Pss:") or _resident_kib(pid)


def _rollup_kib(pid: int, name: str) -> int:
    return _value_kib(_read(f"/proc/{pid}/smaps_rollup"), name)


def _status_kib(pid: int, name: str) -> int:
    return _value_kib(_read(f"/proc/{pid}/status"), name)


def _value_kib(text: str, name: str) -> int:
    for line in text.split("\n"):
        if line.startswith(name):
            return int(line.split()[1])
    return 0


def _memory_files(pid: int) -> dict[int, int]:
    """The KiB of each file of memory (memfd_create) that a process holds open, by inode."""
    found: dict[int, int] = {}
    directory = f"/proc/{pid}/fd"
    try:
        names = os.listdir(directory)[:_MOST_DESCRIPTORS]
    except OSError:
        return found
    for name in names:
        with contextlib.suppress(OSError):
            if os.readlink(f"{directory}/{name}").startswith("/memfd:"):
                file = os.stat(f"{directory}/{name}")
                found[file.st_ino] = file.st_blocks // 2
    return found


def _sum_of(files: Iterable[dict[int, int]]) -> int:
    """The sum of the files, each counted once."""
    every: dict[int, int] = {}
    for one in files:
        every.update(one)
    return sum(every.values())


def _left_kib() -> int:
    """The memory that belongs to no process: it may stay when all have ended."""
    return sum(map(_files_kib, _MEMORY_FILE_SYSTEMS)) + _segments_kib() + socket_kib()


def _files_kib(directory: str) -> int:
    """What the files of a file system of memory take."""
    try:
        found = os.statvfs(directory)
    except OSError:
        return 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize // 1024


def _segments_kib() -> int:
    """Shared memory of System V, also where no process has it attached."""
    head, *lines = _read(_SEGMENTS).splitlines() or [""]
    names = head.split()
    at = names.index("rss") if "rss" in names else len(names)
    return sum(int(words[at]) for words in map(str.split, lines) if at < len(words)) // 1024


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except (OSError, ValueError):
        return ""
