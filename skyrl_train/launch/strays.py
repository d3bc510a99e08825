"""Finds and ends the processes that a finished job left on this node. Each is checked again right before it is killed.

A process of the job has the job id in its environment. A process in a container has not: it is recognised by its mounts,
which come from the directories of the job.
"""

import os
from collections.abc import Sequence

from skyrl_train.procfs import Belongs, environ_of, killed, mounts_of, others, read, until_gone

ROUNDS = 5
"""A process started while others end is found in the next round."""
NAME = "skyrl-"
_PODMANS = ("XDG_RUNTIME_DIR", "CONTAINERS_CONF")
_JOB = b"SLURM_JOB_ID="
_EPILOG = b"SLURM_SCRIPT_CONTEXT=epilog"
WAIT_S = 2.0


def end(belongs: Belongs) -> list[int]:
    """Kills the processes that belong, until none is found; returns their ids."""
    ended: list[int] = []
    for _ in range(ROUNDS):
        found = [pid for pid in others() if killed(pid, belongs)]
        if not found:
            break
        ended += found
        until_gone(found, WAIT_S)
    return ended


def of_job(job_id: str, uid: int) -> Belongs:
    """A test for processes of this job and user. Slurm's own processes for the job, such as epilogs, do not count."""
    mark = f"SLURM_JOB_ID={job_id}".encode()

    def belongs(pid: int) -> bool:
        words = environ_of(pid)
        return mark in words and not any(word.startswith(_EPILOG) for word in words) and _owner(pid) == uid

    return belongs


def serving(directories: Sequence[str], uid: int) -> Belongs:
    """A test for Podman's processes (such as conmon) of a store below these directories.

    conmon has no job id in its environment. A process with a job id belongs to a job that was submitted from this one.
    """
    marks = tuple(f"{name}={directory}/".encode() for directory in directories for name in _PODMANS)

    def belongs(pid: int) -> bool:
        words = environ_of(pid)
        ours = any(word.startswith(marks) for word in words) and not any(word.startswith(_JOB) for word in words)
        return ours and _owner(pid) == uid

    return belongs


def inside(directories: Sequence[str], uid: int) -> Belongs:
    """A test for processes in a sandbox of this user whose mounts come from these directories.

    A mount made on the host is visible in every process below the directory, so it does not count.
    """
    marks = [_pattern(directory) for directory in directories]
    ours, host = mounts_of("self"), set(map(_mount_key, _lines("self")))

    def belongs(pid: int) -> bool:
        if mounts_of(pid) in ("", ours) or not (_owner(pid) == uid or _owns_namespace(pid, uid)):
            return False
        own = [line for line in _lines(pid) if _mount_key(line) not in host]
        return any(mark in _source(line) and mark not in _mount_key(line)[2] + b"/" for line in own for mark in marks)

    return belongs


def _lines(pid: "int | str") -> list[list[bytes]]:
    """The lines of mountinfo (proc(5)), split into words."""
    words = [line.split(b" ") for line in read(f"/proc/{pid}/mountinfo").splitlines()]
    return [line for line in words if len(line) > 6]


def _mount_key(line: list[bytes]) -> tuple[bytes, bytes, bytes]:
    """Device, path in the file system, and mount point."""
    return line[2], line[3], line[4]


def _source(line: list[bytes]) -> bytes:
    """The source of a mount: a path in a file system, or the options of an overlay."""
    return line[3] + b"/ " + line[-1]


def _owns_namespace(pid: int, uid: int) -> bool:
    """Whether this user made the process's user namespace: podman maps that user first."""
    return any(words[1:2] == [b"%d" % uid] for words in map(bytes.split, read(f"/proc/{pid}/uid_map").splitlines()))


def _pattern(directory: str) -> bytes:
    """A pattern for the directory in mountinfo, where paths begin at the root of their file system. Our unique names suffice."""
    name = os.path.basename(directory)
    return (f"/{name}/" if name.startswith(NAME) else f"{directory}/").encode()


def _owner(pid: int) -> int:
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return -1
