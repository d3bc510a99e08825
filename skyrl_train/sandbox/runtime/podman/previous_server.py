"""Cleans up after a killed server: its service, its running loads, pulls and builds, and the containers of builds. An image
is never incomplete: Podman names it when it is whole.
"""

import contextlib
import json
import os

from skyrl_train.contracts import bounded
from skyrl_train.procfs import environ_of, killed, others, read, until_gone
from skyrl_train.sandbox.podman_cli import PodmanCli

MARK = "SKYRL_IMAGES_OF"
"""In the environment of fetches and builds; its value is the store's run directory."""
_WORKING = "-working-container"
"""The suffix of a build container's name."""
_REMOVE_S, _GONE_S = 60.0, 5.0


def end_previous(run_dir: str, socket_path: str) -> int:  # FIX(POD007)
    """Kills the service, loads, pulls and builds of a killed server, which would continue; returns how many. Runs before
    the store is checked: if one of them holds its lock, the store looks stuck.

    Kills the whole session of a fetch or build, but not of the service: it contains the networks of living containers.
    """
    sessions = {_session(pid) for pid in others() if _fetches(pid, run_dir)} - {0, os.getsid(0)}

    def belongs(pid: int) -> bool:
        return _fetches(pid, run_dir) or _serves(pid, socket_path) or _session(pid) in sessions

    ended = [pid for pid in others() if killed(pid, belongs)]
    until_gone(ended, _GONE_S)
    return len(ended)


def _fetches(pid: int, run_dir: str) -> bool:
    return f"{MARK}={run_dir}".encode() in environ_of(pid)


def _serves(pid: int, socket_path: str) -> bool:
    words = read(f"/proc/{pid}/cmdline").split(b"\0")
    return f"unix://{socket_path}".encode() in words and b"service" in words


def _session(pid: int) -> int:
    with contextlib.suppress(OSError):
        return os.getsid(pid)
    return 0


def remove_half_made(podman: PodmanCli, run_dir: str) -> int:
    """Removes the containers of abandoned builds; returns how many. Only reads the store's own list."""
    path = f"{os.path.dirname(run_dir)}/graph/overlay-containers/containers.json"
    try:
        found = json.loads(bounded.read_text(path))
    except (OSError, ValueError, RecursionError):
        return 0
    names = [str(name) for each in found for name in each.get("names") or ()]
    working = [name for name in names if _WORKING in name]
    if working:
        podman.run("rm", "--force", "--time", "0", *working, limit_s=_REMOVE_S)
    return len(working)
