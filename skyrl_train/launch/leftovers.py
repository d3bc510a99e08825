"""Removes what a job left on its node: processes, sandboxes, mounts and the job's directories."""

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
from skyrl_train.node.podman_store import LOCAL_BASE, STORE_BASE, job_directory
from skyrl_train.process import run
from skyrl_train.procfs import Belongs

LIMIT_S = 60.0
ROUNDS = 3
MOUNTS = "/proc/self/mountinfo"
_DETACH, _NOFOLLOW = 2, 8
_MOST_BYTES = 4096


@dataclass(slots=True)
class Cleared:
    """What was removed, and a line for each thing that could not be removed."""

    processes: list[int] = field(default_factory=list)
    mounts: list[str] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)


def node_directory(uid: int, job_id: str | None) -> str:
    """The directory that holds everything the sandboxes of this job make on the node."""
    return os.path.dirname(job_directory(uid=uid, job_id=job_id))


def of_dead_job(job_id: str, uid: int, bases: Sequence[str] = (LOCAL_BASE,)) -> Cleared:
    """Removes the processes and directories of a finished job. Calling it again has no effect."""
    directories = job_directories(uid=uid, job_id=job_id, bases=bases)
    return _cleared(directories, uid, (strays.of_job(job_id, uid),))


def of_this_job(environ: Mapping[str, str]) -> list[str]:
    """Removes the sandboxes, mounts and directories of the running job; a line for each thing that could not be removed.

    Does nothing without Slurm: there two jobs share a directory, which the launch removes after both.
    """
    job_id = slurm.own_id(environ)
    if not job_id:
        return []
    return clear(job_directories(uid=os.getuid(), job_id=job_id, bases=scratch_candidates(environ))).troubles


def clear(directories: Sequence[str]) -> Cleared:
    """Removes the sandboxes in these directories of this user, and the directories."""
    return _cleared(directories, os.getuid(), ())


def _sandboxes(directories: Sequence[str], uid: int) -> tuple[Belongs, ...]:
    """What to end, in order. conmon comes first: if its container dies, it starts a podman that mounts and writes again."""
    return strays.serving(directories, uid), strays.inside(directories, uid)


def remove(path: str, *, uid: int | None = None) -> str:
    """Removes a directory of this user with its content; the reason if it failed, else an empty text.

    Files of a sandbox belong to subordinate ids of the user, which only `podman unshare` or root may remove.
    """
    if os.path.islink(path) or not os.path.isdir(path) or os.stat(path).st_uid != (os.getuid() if uid is None else uid):
        return ""
    _make_writable(path)
    shutil.rmtree(path, ignore_errors=True)
    if not os.path.exists(path):
        return ""
    try:
        done = run((shutil.which("podman") or "podman", "unshare", "rm", "-rf", path), limit_s=LIMIT_S)
    except OSError as error:
        return f"cannot remove {path}: {error}"
    if done.timed_out:
        return f"cannot remove {path}: podman unshare timed out after {LIMIT_S:g} s"
    shutil.rmtree(path, ignore_errors=True)
    return f"cannot remove all of {path}" if os.path.exists(path) else ""


def mounts_below(directories: Sequence[str], table: str) -> list[str]:
    """The mount points at and below these directories, deepest first. `table` is the text of mountinfo."""
    points = [_unescaped(words[4]) for line in table.splitlines() if len(words := line.split(" ")) > 4]
    found = [point for point in points if any(f"{point}/".startswith(f"{one}/") for one in directories)]
    return sorted(found, key=len, reverse=True)


def stores_elsewhere(directory: str, uid: int) -> list[str]:
    """The directory of the job's store that is not below /tmp, if the job's directory on the node names its base.

    The file is a user's. Only a directory of this user with the job's own name counts, and no path through a link.
    """
    try:
        descriptor = os.open(os.path.join(directory, STORE_BASE), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            text = file.read(_MOST_BYTES) if stat.S_ISREG(found.st_mode) and found.st_uid == uid else b""
    except OSError:
        return []
    path = os.path.join(os.fsdecode(text).rstrip("\n"), os.path.basename(directory))
    is_plain = path.startswith("/") and "\0" not in path and os.path.realpath(path) == path
    return [path] if is_plain and os.path.isdir(path) and os.lstat(path).st_uid == uid else []


def _cleared(own: Sequence[str], uid: int, kinds: Sequence[Belongs]) -> Cleared:
    done = Cleared()
    stores = {one: stores_elsewhere(one, uid) for one in own}
    directories = [
        *(store for found in stores.values() for store in found),
        *own,
    ]  # a store before the file that names it
    kinds = (*kinds, *_sandboxes(directories, uid))
    for _ in range(ROUNDS):
        for belongs in kinds:
            done.processes += strays.end(belongs)
        done.mounts += [point for point in mounts_below(directories, _table()) if _unmount(point)]
        failed = {path: trouble for path in directories if (trouble := _remove_unless_needed(path, stores, uid, done))}
        done.troubles = list(failed.values())
        if not done.troubles:
            break
    return done


def _remove_unless_needed(path: str, stores: Mapping[str, Sequence[str]], uid: int, done: Cleared) -> str:
    """Removes a directory, unless its store still exists: another sweep finds the store by this directory."""
    if any(os.path.lexists(store) for store in stores.get(path, ())):
        return ""
    return _remove_one(path, uid, done)


def _remove_one(path: str, uid: int, done: Cleared) -> str:
    """Removes one directory; the reason if it failed. Never descends into a mount, which may hold other people's files."""
    if not os.path.lexists(path):
        return ""
    held = mounts_below([path], _table())
    trouble = f"{held[0]} is still mounted" if held else remove(path, uid=uid)
    if not trouble and not os.path.lexists(path):
        done.directories.append(path)
    return trouble


def _make_writable(path: str) -> None:
    """Makes directories writable, since module caches are read-only. Root can remove them anyway and changes nothing."""
    for where, names, _files in os.walk(path) if os.getuid() else ():
        for one in (where, *(os.path.join(where, name) for name in names)):
            _make_one_writable(one)


def _make_one_writable(path: str) -> None:
    with contextlib.suppress(OSError):
        if not os.path.islink(path):
            os.chmod(path, stat.S_IRWXU)


def _unmount(point: str) -> bool:
    """Unmounts; whether it worked. Lazily, so that a file server that does not answer cannot block the cleanup."""
    return int(ctypes.CDLL(None).umount2(os.fsencode(point), _DETACH | _NOFOLLOW)) == 0


def _table() -> str:
    with open(MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def _unescaped(text: str) -> str:
    """The text without the octal escapes of proc(5) for blanks and backslashes."""
    for code, letter in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, letter)
    return text
