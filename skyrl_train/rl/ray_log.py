"""What Ray last wrote of its troubles in a driver's log of its own.

Ray ends a process whose cluster is lost from within its library, with status 1 and no word on the terminal. The log lies in
the session's directory, which a job takes away at its end.
"""

import glob
import os
import re
from collections.abc import Iterable, Mapping

from skyrl_train.node.ray_tmp import ray_socket

LINES, WIDTH = 3, 300
_TROUBLE = re.compile(r"^\[\d{4}-[^\]]* [WEFC] [^\]]*\] (?!logging\.cc)")
_MOST_BYTES = 1 << 20


def troubles(lines: Iterable[str]) -> list[str]:
    """The last warnings and errors, in their order. The stack of a signal is no trouble."""
    return [line[:WIDTH] for line in lines if _TROUBLE.match(line)][-LINES:]


def of_driver(environ: Mapping[str, str], pid: int) -> list[str]:
    """Those of the driver with this id; none where it has not begun, or cannot be read."""
    pattern = f"{glob.escape(ray_socket(environ).base)}/ray/session_*_{pid}/logs/python-core-driver-*.log"
    found: list[str] = []
    for path in sorted(glob.glob(pattern)):
        try:
            with open(path, "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _MOST_BYTES))
                found += file.read().decode(errors="replace").splitlines()
        except OSError:
            continue
    return troubles(found)
