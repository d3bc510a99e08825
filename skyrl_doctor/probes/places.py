"""Where a path really leads, asked link by link: the mount table knows resolved paths only."""

import os

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine, unless_absent

MAX_LINKS = 40
"""As many as the kernel follows."""


@record
class Place:
    """A path without links. `existing` is the deepest part of it that is there, and `kind` says what that is."""

    resolved: str
    existing: str
    kind: str

    @property
    def exists(self) -> bool:
        return self.existing == self.resolved


def place_of(machine: Machine, path: str, *, cwd: str = "/") -> Place:
    """Follows links as far as the path exists; what does not exist yet has none."""
    todo = _parts(os.path.join(cwd, path))
    done, kind, links = "/", "dir", 0
    while todo:
        name = todo.pop(0)
        if name == "..":
            done = os.path.dirname(done)
            continue
        step = os.path.join(done, name)
        found = unless_absent(lambda at=step: machine.stat(at, follow=False))  # type: ignore[misc]  # mypy cannot type the default
        if found is None:
            return Place(os.path.normpath(os.path.join(step, *todo)), done, kind)
        if found.kind != "link":
            done, kind = step, found.kind
            continue
        links += 1
        if links > MAX_LINKS:
            raise CouldNotLook(f"{path}: too many links, one leads to another")
        target = machine.readlink(step)
        todo = _parts(target) + todo
        done, kind = ("/", "dir") if target.startswith("/") else (done, kind)
    return Place(done, done, kind)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
