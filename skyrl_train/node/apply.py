"""Makes the directories and files of a Preparation. A path that belongs to another user is refused."""

import os
import re
import stat
import tempfile
from dataclasses import replace

from skyrl_train.contracts import bounded
from skyrl_train.contracts.files import replacing
from skyrl_train.node.settings import Directory, Preparation, TextFile

_OF_JOB = re.compile(r"skyrl-[0-9]+(?:-[0-9a-z_-]+)?|r-?[0-9]+")


class NotOurs(OSError):  # noqa: N818 -- named like the standard library's errors about paths
    """A path that this job needs belongs to another user."""


def apply(preparation: Preparation) -> tuple[str, ...]:
    """Makes what is missing; the paths that were made or changed. Calling it again has no effect."""
    made = [directory.path for directory in preparation.directories if _make(directory)]
    written = [file.path for file in preparation.files if _write(file)]
    return (*made, *written)


def moved(preparation: Preparation) -> Preparation:
    """The preparation with another directory for each that somebody else made first, so that this costs no setting.

    The new name cannot be guessed. All tasks of a job on a node use the same one; `sweep` finds it by its begin.
    """
    for taken in sorted({path for one in preparation.directories if (path := _taken(one.path)) is not None}):
        preparation = _renamed(preparation, taken, _replacement(taken))
    return preparation


def _taken(path: str) -> str | None:
    """The directory of the job in this path, if it is a link or belongs to another user."""
    here = "/"
    for part in path.strip("/").split("/"):
        here = os.path.join(here, part)
        if _OF_JOB.fullmatch(part):
            try:
                found = os.lstat(here)
            except OSError:
                return None
            return None if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() else here
    return None


def _replacement(taken: str) -> str:
    above, name = os.path.split(taken)
    with os.scandir(above) as entries:
        ours = [entry.path for entry in entries if entry.name.startswith(f"{name}.") and _is_private(entry)]
    if ours:
        return min(ours)
    return tempfile.mkdtemp(prefix=f"{name}.", dir=above)


def _is_private(entry: "os.DirEntry[str]") -> bool:
    found = entry.stat(follow_symlinks=False)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) == stat.S_IRWXU


def _renamed(preparation: Preparation, old: str, new: str) -> Preparation:
    pattern = re.compile(rf"{re.escape(old)}(?![^/\"':;,\s])")

    def there(text: str) -> str:
        return pattern.sub(lambda _found: new, text)

    return Preparation(
        settings=tuple(
            replace(one, value=None if one.value is None else there(one.value)) for one in preparation.settings
        ),
        directories=tuple(replace(one, path=there(one.path)) for one in preparation.directories),
        files=tuple(replace(one, path=there(one.path), text=there(one.text)) for one in preparation.files),
    )


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
