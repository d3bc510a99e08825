"""Makes the directories and files of a Preparation. They are the job's own: what is somebody else's is refused."""

import os
import stat

from skyrl_train.node.settings import Directory, Preparation, TextFile


class NotOurs(OSError):  # noqa: N818 -- an answer about a path, as the errors of the standard library name them
    """A path that this job wants for itself belongs to somebody else."""


def apply(preparation: Preparation) -> tuple[str, ...]:
    """Makes what is missing; the paths of what was made or changed. Doing it twice does nothing."""
    made = [directory.path for directory in preparation.directories if _make(directory)]
    written = [file.path for file in preparation.files if _write(file)]
    return (*made, *written)


def _make(directory: Directory) -> bool:
    existed = os.path.isdir(directory.path)
    os.makedirs(directory.path, mode=directory.mode, exist_ok=True)
    found = os.lstat(directory.path)
    # Under /tmp anybody may have made it first, or put a link in its place.
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise NotOurs(
            f"{directory.path} is not a directory of ours (owner {found.st_uid}); remove it or choose another place"
        )
    if stat.S_IMODE(found.st_mode) != directory.mode:
        os.chmod(directory.path, directory.mode)
        return True
    return not existed


def _write(file: TextFile) -> bool:
    """Whole or not at all: by rename."""
    try:
        with open(file.path, encoding="utf-8") as existing:
            if existing.read() == file.text:
                return False
    except FileNotFoundError:
        pass
    temporary = f"{file.path}.{os.getpid()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, file.mode)
    with open(descriptor, "w", encoding="utf-8") as new:
        new.write(file.text)
    os.chmod(temporary, file.mode)
    os.replace(temporary, file.path)
    return True
