"""Reads the last errors in Ray's log of the driver.

If the cluster is lost, Ray's library ends the process with status 1 and prints nothing. Its log is in the session
directory, which is removed at the end of the job.
"""

import glob
import os
import re
from collections.abc import Iterable, Mapping

from skyrl_train.contracts import bounded
from skyrl_train.node.ray_tmp import ray_socket

LINES, WIDTH = 3, 300
_TROUBLE = re.compile(r"^\[\d{4}-[^\]]* [WEFC] [^\]]*\] (?!logging\.cc)")
_MOST_BYTES = 1 << 20


def troubles(lines: Iterable[str]) -> list[str]:
    """The last warnings and errors in order, without stacks of signals."""
    return [line[:WIDTH] for line in lines if _TROUBLE.match(line)][-LINES:]


def of_driver(environ: Mapping[str, str], pid: int) -> list[str]:
    """The last warnings and errors of this driver; empty if there is no readable log."""
    pattern = f"{glob.escape(ray_socket(environ).base)}/ray/session_*_{pid}/logs/python-core-driver-*.log"
    found: list[str] = []
    for path in sorted(glob.glob(pattern)):
        try:
            with bounded.open_file(path) as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _MOST_BYTES))
                found += file.read().decode(errors="replace").splitlines()
        except OSError:
            continue
    return troubles(found)
