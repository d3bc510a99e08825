"""Directories with the Ray logs of this job's cluster, which name dead nodes and actors.

A node may have sessions of other jobs, also of the same user. A session is ours if the environment of its starter has
this job's number or this launch's directory.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence

from skyrl_train.node.ray_tmp import ray_socket

_SESSION = re.compile(r"^session_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_\d+_(\d+)$")
MARKS = ("SLURM_JOB_ID", "SKYRL_JOB_DIR")
"""Variables that all processes of one job have: Slurm's, and the one of skyrl_train.launch.marks."""
MOST = 8


def sessions_of(environ: Mapping[str, str]) -> Callable[[], Sequence[str]]:
    """A function that lists our sessions anew at each call. A session stays ours after its starter has exited."""
    marks = [f"{name}={environ[name]}".encode() for name in MARKS if environ.get(name)][:1]
    base = os.path.join(ray_socket(environ).base, "ray")
    known: dict[str, None] = {}

    def look() -> Sequence[str]:
        for name, pid in _named(base):
            path = os.path.join(base, name)
            if path not in known and len(known) < MOST and _is_ours(path, pid, marks):
                known[path] = None
        return [os.path.join(path, "logs") for path in known]

    return look


def _named(base: str) -> list[tuple[str, str]]:
    try:
        names = sorted(os.listdir(base))
    except OSError:
        return []
    return [(name, found[1]) for name in names if (found := _SESSION.match(name))]


def _is_ours(path: str, pid: str, marks: Sequence[bytes]) -> bool:
    try:
        if os.lstat(path).st_uid != os.getuid():
            return False
        with open(f"/proc/{pid}/environ", "rb") as file:
            return not set(marks).isdisjoint(file.read().split(b"\0"))
    except OSError:
        return False
