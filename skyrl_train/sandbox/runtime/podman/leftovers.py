"""Ends what still runs of a store: the processes that its pid files name, and those that were started in its place.

Only with the store's own run directory, by process id, and each looked at again right before: ids are used anew.
"""

import contextlib
import glob
import os

from skyrl_train.procfs import environ_of, killed, mounts_of, others, read, until_gone

_PID_FILES = ("containers/*/*/userdata/pidfile", "containers/*/*/userdata/conmon.pid", "libpod/tmp/pause.pid")
_WAIT_S = 5.0


def end_leftovers(run_dir: str) -> tuple[int, ...]:  # FIX(POD004)
    """The ids of what was ended. It returns when they are gone, or after a few seconds."""
    candidates = set(others())
    found = dict.fromkeys((*_named(run_dir), *(pid for pid in candidates if _has_variable(pid, run_dir))))
    ended = [pid for pid in found if pid in candidates and killed(pid, lambda each: _belongs(each, run_dir))]
    until_gone(ended, _WAIT_S)
    return tuple(ended)


def _named(run_dir: str) -> list[int]:
    pids = []
    for pattern in _PID_FILES:
        for path in glob.glob(f"{glob.escape(run_dir)}/{pattern}"):
            with contextlib.suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
                pids.append(int(file.read()))
    return pids


def _belongs(pid: int, run_dir: str) -> bool:
    """A container's first process has another environment than Podman's: its parent is conmon, or was."""
    return _has_variable(pid, run_dir) or _in_container_of(pid, run_dir)


def _has_variable(pid: int, run_dir: str) -> bool:
    return f"XDG_RUNTIME_DIR={run_dir}".encode() in environ_of(pid)


def _in_container_of(pid: int, run_dir: str) -> bool:
    """Its root is a layer of the store that lies beside the run directory. The mounts that it shares with us say nothing:
    a root's Podman mounts its store where every process of the host sees it.
    """
    graph = f"{os.path.dirname(run_dir)}/graph/".encode()
    return graph in read(f"/proc/{pid}/mountinfo") and mounts_of(pid) not in ("", mounts_of("self"))
