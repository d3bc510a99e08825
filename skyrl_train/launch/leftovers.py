"""What a job leaves on its node, and how it is taken away: processes, sandboxes, mounts, and the job's own directories."""

import contextlib
import ctypes
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skyrl_train.launch import slurm, strays
from skyrl_train.node.caches import scratch_candidates
from skyrl_train.node.places import job_directories
from skyrl_train.node.podman_store import LOCAL_BASE, job_directory
from skyrl_train.process import run
from skyrl_train.procfs import Belongs

LIMIT_S = 60.0
ROUNDS = 3
MOUNTS = "/proc/self/mountinfo"
_DETACH, _NOFOLLOW = 2, 8


@dataclass(slots=True)
class Cleared:
    """What was taken away, and what could not be."""

    processes: list[int] = field(default_factory=list)
    mounts: list[str] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)


def node_directory(uid: int, job_id: str | None) -> str:
    """Everything that the rules of a node of sandboxes make for this job lies below it."""
    return os.path.dirname(job_directory(uid=uid, job_id=job_id))


def of_dead_job(job_id: str, uid: int, bases: Sequence[str] = (LOCAL_BASE,)) -> Cleared:
    """For a job that is over: every process of it that is left here, and all that it made. Doing it twice does nothing."""
    directories = job_directories(uid=uid, job_id=job_id, bases=bases)
    return _cleared(directories, uid, (strays.of_job(job_id, uid), *_sandboxes(directories, uid)))


def of_this_job(environ: Mapping[str, str]) -> list[str]:
    """For a job on its own way out: its sandboxes, mounts and directories; it goes on itself. What could not be taken away.

    Without Slurm two jobs share a directory, which whoever started both removes after both.
    """
    job_id = slurm.own_id(environ)
    if not job_id:
        return []
    return clear(job_directories(uid=os.getuid(), job_id=job_id, bases=scratch_candidates(environ))).troubles


def clear(directories: Sequence[str]) -> Cleared:
    """The sandboxes that live in these directories of ours, and the directories."""
    return _cleared(directories, os.getuid(), _sandboxes(directories, os.getuid()))


def _sandboxes(directories: Sequence[str], uid: int) -> tuple[Belongs, ...]:
    """conmon first: one that sees its container die starts a podman, which mounts and writes anew."""
    return strays.serving(directories, uid), strays.inside(directories, uid)


def remove(path: str, *, uid: int | None = None) -> str:
    """Removes a directory of this user with what is in it; why it could not, else nothing.

    Files of a sandbox belong to other ids of the user's range: only `podman unshare`, or root, may remove those.
    """
    if os.path.islink(path) or not os.path.isdir(path) or os.stat(path).st_uid != (os.getuid() if uid is None else uid):
        return ""
    _open_up(path)
    shutil.rmtree(path, ignore_errors=True)
    if not os.path.exists(path):
        return ""
    try:
        done = run((shutil.which("podman") or "podman", "unshare", "rm", "-rf", path), limit_s=LIMIT_S)
    except OSError as error:
        return f"{path} could not be removed: {error}"
    if done.timed_out:
        return f"{path} could not be removed: podman unshare timed out after {LIMIT_S:g} s"
    shutil.rmtree(path, ignore_errors=True)
    return f"{path} could not be removed as a whole" if os.path.exists(path) else ""


def mounts_below(directories: Sequence[str], table: str) -> list[str]:
    """The mount points at and below these directories, the deepest first. `table` is the text of mountinfo."""
    points = [_unescaped(words[4]) for line in table.splitlines() if len(words := line.split(" ")) > 4]
    found = [point for point in points if any(f"{point}/".startswith(f"{one}/") for one in directories)]
    return sorted(found, key=len, reverse=True)


def _cleared(directories: Sequence[str], uid: int, kinds: Sequence[Belongs]) -> Cleared:
    done = Cleared()
    for _ in range(ROUNDS):
        for belongs in kinds:
            done.processes += strays.end(belongs)
        done.mounts += [point for point in mounts_below(directories, _table()) if _unmount(point)]
        done.troubles = [trouble for path in directories if (trouble := _gone(path, uid, done))]
        if not done.troubles:
            break
    return done


def _gone(path: str, uid: int, done: Cleared) -> str:
    """Removes one; why it could not. Never into a mount: what is below it may be anybody's."""
    if not os.path.lexists(path):
        return ""
    held = mounts_below([path], _table())
    trouble = f"{held[0]} is still mounted" if held else remove(path, uid=uid)
    if not trouble and not os.path.lexists(path):
        done.directories.append(path)
    return trouble


def _open_up(path: str) -> None:
    """Caches of modules make their directories read-only. Root needs no leave, and should change nothing on the way."""
    for where, names, _files in os.walk(path) if os.getuid() else ():
        for place in (where, *(os.path.join(where, name) for name in names)):
            _allow(place)


def _allow(place: str) -> None:
    with contextlib.suppress(OSError):
        if not os.path.islink(place):
            os.chmod(place, stat.S_IRWXU)


def _unmount(point: str) -> bool:
    """Whether it could. Detached: a server that does not answer must not hold the way out."""
    return int(ctypes.CDLL(None).umount2(os.fsencode(point), _DETACH | _NOFOLLOW)) == 0


def _table() -> str:
    with open(MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def _unescaped(text: str) -> str:
    """proc(5): blanks and backslashes as three octal digits."""
    for code, letter in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, letter)
    return text
