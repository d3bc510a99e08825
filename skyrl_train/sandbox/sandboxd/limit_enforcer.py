"""Limits of the whole sandbox, where the engine's are not: under cgroups of the first version a rootless Podman takes
limits and leaves them out of account.

As the first process of its own namespace sandboxd sees all others, and may end them all at once. What ends is the
command that went too far; sandboxd and the other sandboxes go on.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable

from skyrl_train.contracts.sandboxd_api import LIMIT

STEP_S = 0.02
_LOOK_EVERY = 5
"""Steps. In between only the namespace's last process number is read, which tells of a burst."""
_QUIET_S = 1.0
_AFTERMATH_S = 10.0
"""In which the dead of a burst may still be there."""
_PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024


class Warden:
    """Looks at every process of the namespace; 0 stands for no limit."""

    def __init__(self, *, processes: int, memory_mib: int, log: Callable[[str], None]) -> None:
        self._processes = processes
        self._memory_kib = memory_mib * 1024
        self._log = log
        self._acted = -_AFTERMATH_S
        self._said = ""

    def start(self) -> None:
        """Only where this is the first process: elsewhere the others are somebody else's."""
        if os.getpid() == 1 and (self._processes or self._memory_kib):
            threading.Thread(target=self._watch, name="warden", daemon=True).start()

    def said_since(self, began: float) -> str:
        """What was ended since then (of time.monotonic), for whoever asks why a command ended."""
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
        """In one call: what is ended one by one has forked again by then."""
        self._end(-1, f"more than the {self._processes} processes that a sandbox may have: all were ended")

    def _weigh(self, pids: list[int]) -> None:
        """First by the quick figure, which counts shared pages again and again, then by the true one."""
        if sum(_resident_kib(pid) for pid in pids) <= self._memory_kib:
            return
        weights = {pid: _proportional_kib(pid) for pid in pids}
        total = sum(weights.values())
        if total <= self._memory_kib:
            return
        heaviest = max(weights, key=lambda pid: weights[pid])
        limit = self._memory_kib // 1024
        self._end(
            heaviest,
            f"{total // 1024} MiB of memory, more than the {limit} that a sandbox may have: the largest was ended",
        )

    def _end(self, pid: int, said: str) -> None:
        """Told before it is done: who sees it ended asks why at once, and where it was all that ran, this process ends too."""
        now = time.monotonic()
        if now - self._acted > _QUIET_S:
            self._log(LIMIT + said)
        self._said = said
        self._acted = now
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _others(most: int, *, living: bool) -> list[int]:
    """No more than are too many: each entry that is read lets another thread go first, and in a burst one is always
    there to reap the dead. `living`: those that only wait to be reaped are no burst of their own."""
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
    """The last that this namespace has given out."""
    words = _read("/proc/loadavg").split()
    return int(words[-1]) if words else 0


def _resident_kib(pid: int) -> int:
    """Without what is shared with files."""
    text = _read(f"/proc/{pid}/statm").split()
    return (int(text[1]) - int(text[2])) * _PAGE_KIB if len(text) > 2 else 0


def _proportional_kib(pid: int) -> int:
    for line in _read(f"/proc/{pid}/smaps_rollup").split("\n"):
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return _resident_kib(pid)


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except (OSError, ValueError):
        return ""
