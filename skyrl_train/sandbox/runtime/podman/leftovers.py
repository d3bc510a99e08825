"""Ends what still runs of a store: the processes that its pid files name, and those that were started in its place.

Only with the store's own run directory, by process id, and each looked at again right before: ids are used anew.
"""

import contextlib
import glob
import os
import signal
import time

from skyrl_train.launch.child import parents

_PID_FILES = ("containers/*/*/userdata/pidfile", "containers/*/*/userdata/conmon.pid", "libpod/tmp/pause.pid")
_WAIT_S = 5.0
_STEP_S = 0.02


def end_leftovers(run_dir: str) -> tuple[int, ...]:  # FIX(POD004)
    """The ids of what was ended. It returns when they are gone, or after a few seconds."""
    above = set(parents(os.getpid()))  # whoever started us has our environment, and the store's variables in it
    found = dict.fromkeys((*_named(run_dir), *_started_in(run_dir)))
    ended = [pid for pid in found if pid not in above and _end(pid, run_dir)]
    limit = time.monotonic() + _WAIT_S
    while any(_alive(pid) for pid in ended) and time.monotonic() < limit:
        time.sleep(_STEP_S)
    return tuple(ended)


def _end(pid: int, run_dir: str) -> bool:
    with contextlib.suppress(OSError):
        descriptor = os.pidfd_open(pid)
        try:
            belongs = _belongs(pid, run_dir)
            if belongs:
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            return belongs
        finally:
            os.close(descriptor)
    return False


def _named(run_dir: str) -> list[int]:
    pids = []
    for pattern in _PID_FILES:
        for path in glob.glob(f"{glob.escape(run_dir)}/{pattern}"):
            with contextlib.suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
                pids.append(int(file.read()))
    return pids


def _started_in(run_dir: str) -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _has_variable(int(name), run_dir)]


def _belongs(pid: int, run_dir: str) -> bool:
    """A container's first process has another environment than Podman's: its parent is conmon, or was."""
    return _has_variable(pid, run_dir) or _in_container_of(pid, run_dir)


def _has_variable(pid: int, run_dir: str) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return f"XDG_RUNTIME_DIR={run_dir}".encode() in file.read().split(b"\0")
    return False


def _in_container_of(pid: int, run_dir: str) -> bool:
    """Its root is a layer of the store that lies beside the run directory. The mounts that it shares with us say nothing:
    a root's Podman mounts its store where every process of the host sees it.
    """
    graph = f"{os.path.dirname(run_dir)}/graph/"
    with contextlib.suppress(OSError), open(f"/proc/{pid}/mountinfo", encoding="utf-8", errors="replace") as file:
        return graph in file.read() and os.readlink(f"/proc/{pid}/ns/mnt") != os.readlink("/proc/self/ns/mnt")
    return False


def _alive(pid: int) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"
    return False
