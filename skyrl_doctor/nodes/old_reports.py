"""Removes the node reports of earlier jobs, so that `.skyrl_nodes` does not grow with each job."""

import contextlib
import os
import re

MOST_JOBS = 5
"""The reports of so many jobs stay, the newest."""
_MOST_ENTRIES = 1000
_JOB = re.compile(r"[0-9]{1,18}|job")
_OURS = re.compile(r"nodes_(?:passing|failing|unknown)\.txt|[^/]{1,255}\.json")


def remove(directory: str, *, keep: str) -> None:
    """Removes the oldest jobs' reports. A directory with other files in it stays."""
    try:
        with os.scandir(directory) as found:
            jobs = [(one.stat(follow_symlinks=False).st_mtime, one.name) for one in found if _is_job(one, keep)]
    except OSError:
        return
    for _, name in sorted(jobs, reverse=True)[MOST_JOBS - 1 : _MOST_ENTRIES]:
        _remove(os.path.join(directory, name))


def _is_job(entry: "os.DirEntry[str]", keep: str) -> bool:
    return entry.is_dir(follow_symlinks=False) and entry.name != keep and bool(_JOB.fullmatch(entry.name))


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        names = os.listdir(path)
        if all(_OURS.fullmatch(name) for name in names):
            for name in names:
                os.unlink(os.path.join(path, name))
            os.rmdir(path)
