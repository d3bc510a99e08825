"""What a server that was killed left at work and half made: its service, loads, pulls and builds that go on, and the
containers of builds. An image itself is never half made: Podman gives it its name when it is whole.
"""

import contextlib
import json
import os

from skyrl_train.procfs import environ_of, killed, pids, read, until_gone
from skyrl_train.sandbox.podman_cli import PodmanCli

MARK = "SKYRL_IMAGES_OF"
"""In the environment of what fetches and builds; its value is the store's run directory."""
_WORKING = "-working-container"
"""What Podman calls the container of a build."""
_REMOVE_S, _GONE_S = 60.0, 5.0


def end_earlier(run_dir: str, socket_path: str) -> int:  # FIX(POD007)
    """Loads, pulls and builds of a server that was killed go on without it, and so does its service: how many were ended.
    Before anybody looks at the store: one of them that holds its lock reads as a store that is stuck.

    Of what fetches and builds, the whole session; in the service's are the networks of containers that live on.
    """
    sessions = {_session(pid) for pid in pids() if _fetches(pid, run_dir)} - {0, os.getsid(0)}

    def belongs(pid: int) -> bool:
        return _fetches(pid, run_dir) or _serves(pid, socket_path) or _session(pid) in sessions

    ended = [pid for pid in pids() if killed(pid, belongs)]
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
    """The containers of builds that nobody goes on with; how many there were. The store's own list is only read."""
    path = f"{os.path.dirname(run_dir)}/graph/overlay-containers/containers.json"
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return 0
    names = [str(name) for each in found for name in each.get("names") or ()]
    working = [name for name in names if _WORKING in name]
    if working:
        podman.run("rm", "--force", "--time", "0", *working, limit_s=_REMOVE_S)
    return len(working)
