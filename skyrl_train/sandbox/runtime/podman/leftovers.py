"""Kills the remaining processes of a store: those in its pid files, and those with its run directory in their environment.

Each process is checked again right before it is killed by its id, because ids are reused.
"""

import contextlib
import glob
import os

from skyrl_train.contracts import bounded
from skyrl_train.procfs import environ_of, killed, mounts_of, others, read, until_gone

_PID_FILES = ("containers/*/*/userdata/pidfile", "containers/*/*/userdata/conmon.pid", "libpod/tmp/pause.pid")
_WAIT_S = 5.0


def end_leftovers(run_dir: str) -> tuple[int, ...]:  # FIX(POD004)
    """Returns the ids of the killed processes, when they are gone or after a few seconds."""
    candidates = set(others())
    found = dict.fromkeys((*_named(run_dir), *(pid for pid in candidates if _has_variable(pid, run_dir))))
    ended = [pid for pid in found if pid in candidates and killed(pid, lambda each: _belongs(each, run_dir))]
    until_gone(ended, _WAIT_S)
    return tuple(ended)


def _named(run_dir: str) -> list[int]:
    pids = []
    for pattern in _PID_FILES:
        for path in glob.glob(f"{glob.escape(run_dir)}/{pattern}"):
            with contextlib.suppress(OSError, ValueError):
                pids.append(int(bounded.read_text(path, most_bytes=64)))
    return pids


def _belongs(pid: int, run_dir: str) -> bool:
    """A container's processes do not have Podman's environment, so their root is checked too."""
    return _has_variable(pid, run_dir) or _in_container_of(pid, run_dir)


def _has_variable(pid: int, run_dir: str) -> bool:
    return f"XDG_RUNTIME_DIR={run_dir}".encode() in environ_of(pid)


def _in_container_of(pid: int, run_dir: str) -> bool:
    """Whether its root is a layer of the store beside the run directory. Mounts that it shares with us do not count: the
    Podman of root mounts its store where every process of the host sees it.
    """
    graph = f"{os.path.dirname(run_dir)}/graph/".encode()
    return graph in read(f"/proc/{pid}/mountinfo") and mounts_of(pid) not in ("", mounts_of("self"))
