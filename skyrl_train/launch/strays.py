"""The processes that a job that is over has left on this node. Only by its id and user, each looked at again right before.

A process of the job has Slurm's id in its environment. A container's has not: it is known by what is mounted in it, which
lies in the directories of the job.
"""

import os
from collections.abc import Sequence

from skyrl_train.procfs import Belongs, environ_of, killed, mounts_of, others, read, until_gone

ROUNDS = 5
"""One that is made while the others end is found in the next round."""
NAME = "skyrl-"
_PODMANS = ("XDG_RUNTIME_DIR", "CONTAINERS_CONF")
_JOB = b"SLURM_JOB_ID="
_EPILOG = b"SLURM_SCRIPT_CONTEXT=epilog"
WAIT_S = 2.0


def end(belongs: Belongs) -> list[int]:
    """Kills what belongs, until a look finds nothing more; the ids."""
    ended: list[int] = []
    for _ in range(ROUNDS):
        found = [pid for pid in others() if killed(pid, belongs)]
        if not found:
            break
        ended += found
        until_gone(found, WAIT_S)
    return ended


def of_job(job_id: str, uid: int) -> Belongs:
    """Whether a process is of this job of this user. Slurm's own for the job, such as its epilogs, are no leavings."""
    mark = f"SLURM_JOB_ID={job_id}".encode()

    def belongs(pid: int) -> bool:
        words = environ_of(pid)
        return mark in words and not any(word.startswith(_EPILOG) for word in words) and _owner(pid) == uid

    return belongs


def serving(directories: Sequence[str], uid: int) -> Belongs:
    """Whether a process of this user is Podman's for a store below these. Such as conmon has little in its environment,
    and no job's id: with that of another job it is that job's, which was submitted from this one."""
    marks = tuple(f"{name}={directory}/".encode() for directory in directories for name in _PODMANS)

    def belongs(pid: int) -> bool:
        words = environ_of(pid)
        ours = any(word.startswith(marks) for word in words) and not any(word.startswith(_JOB) for word in words)
        return ours and _owner(pid) == uid

    return belongs


def inside(directories: Sequence[str], uid: int) -> Belongs:
    """Whether a process is in a sandbox of this user that these directories hold: what is mounted in it comes out of them.

    A mount that is made on the host shows in every other process too, at its place below the directory: it tells nothing.
    """
    marks = [_mark(directory) for directory in directories]
    ours, host = mounts_of("self"), set(map(_place, _lines("self")))

    def belongs(pid: int) -> bool:
        if mounts_of(pid) in ("", ours) or not (_owner(pid) == uid or _maps(pid, uid)):
            return False
        own = [line for line in _lines(pid) if _place(line) not in host]
        return any(mark in _source(line) and mark not in _place(line)[2] + b"/" for line in own for mark in marks)

    return belongs


def _lines(pid: "int | str") -> list[list[bytes]]:
    """The lines of proc(5)'s mountinfo, as words."""
    words = [line.split(b" ") for line in read(f"/proc/{pid}/mountinfo").splitlines()]
    return [line for line in words if len(line) > 6]


def _place(line: list[bytes]) -> tuple[bytes, bytes, bytes]:
    """Device, path in its file system, mount point."""
    return line[2], line[3], line[4]


def _source(line: list[bytes]) -> bytes:
    """Where it comes from: a path in a file system, or the options of an overlay."""
    return line[3] + b"/ " + line[-1]


def _maps(pid: int, uid: int) -> bool:
    """Whether the user made its user namespace: podman maps him first. Images have users of their own."""
    return any(words[1:2] == [b"%d" % uid] for words in map(bytes.split, read(f"/proc/{pid}/uid_map").splitlines()))


def _mark(directory: str) -> bytes:
    """mountinfo tells paths from the root of their file system on: of a name that nobody else has, the name will do."""
    name = os.path.basename(directory)
    return (f"/{name}/" if name.startswith(NAME) else f"{directory}/").encode()


def _owner(pid: int) -> int:
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return -1
