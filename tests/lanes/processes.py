"""Processes in the words of a failure: who they are, whose children, in what state, for how long."""

import os
import time
from collections.abc import Iterable

from skyrl_train.procfs import read, stat_of


def described(pids: Iterable[int]) -> str:
    """A line for each of these that lives."""
    return "\n".join(filter(None, map(_line, pids)))


def _line(pid: int) -> str:
    found = stat_of(pid)
    if found is None:
        return ""
    started = found.started / os.sysconf("SC_CLK_TCK")
    words = read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace")
    waits_in = read(f"/proc/{pid}/wchan").decode(errors="replace")
    age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    return f"{pid}, child of {found.parent}, {found.state} in {waits_in or '?'}, {age_s:.0f} s old: {words[:200]}"
