"""Makes the directories and files of a Preparation. A path that belongs to another user is refused."""

import os
import stat

from skyrl_train.contracts import bounded
from skyrl_train.contracts.files import replacing
from skyrl_train.node.settings import Directory, Preparation, TextFile


class NotOurs(OSError):  # noqa: N818 -- named like the standard library's errors about paths
    """A path that this job needs belongs to another user."""


def apply(preparation: Preparation) -> tuple[str, ...]:
    """Makes what is missing; the paths that were made or changed. Calling it again has no effect."""
    made = [directory.path for directory in preparation.directories if _make(directory)]
    written = [file.path for file in preparation.files if _write(file)]
    return (*made, *written)


def _make(directory: Directory) -> bool:
    existed = os.path.isdir(directory.path)
    os.makedirs(directory.path, mode=directory.mode, exist_ok=True)
    found = os.lstat(directory.path)
    # In /tmp another user may have made it first, or made a link with this name.
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise NotOurs(
            f"{directory.path} is not a directory of this user (owner: {found.st_uid}); remove it or choose another directory"
        )
    if stat.S_IMODE(found.st_mode) != directory.mode:
        os.chmod(directory.path, directory.mode)
        return True
    return not existed


def _write(file: TextFile) -> bool:
    """Writes a file atomically, by rename; whether it changed."""
    try:
        if bounded.read_text(file.path, errors="replace") == file.text:
            return False
    except FileNotFoundError:
        pass
    with replacing(file.path, mode=file.mode, durable=False) as new:
        os.fchmod(new.fileno(), file.mode)
        new.write(file.text.encode())
    return True
