"""Paths on a machine: what `~` stands for, where links lead, and files that may be missing."""

import os
from collections.abc import Mapping

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_doctor.machine.queries import Stat

MAX_LINKS = 40
"""As many as the kernel follows."""


@record
class ResolvedPath:
    """A path without links. `existing` is the deepest part of it that exists, and `kind` is the kind of that part."""

    resolved: str
    existing: str
    kind: str

    @property
    def exists(self) -> bool:
        return self.existing == self.resolved


def resolve_links(machine: Machine, path: str, *, cwd: str = "/") -> ResolvedPath:
    """Follows links as far as the path exists. The mount table knows resolved paths only."""
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
            return ResolvedPath(os.path.normpath(os.path.join(step, *todo)), done, kind)
        if found.kind != "link":
            done, kind = step, found.kind
            continue
        links += 1
        if links > MAX_LINKS:
            raise CouldNotLook(f"{path}: too many links, one leads to another")
        target = machine.readlink(step)
        todo = _parts(target) + todo
        done, kind = ("/", "dir") if target.startswith("/") else (done, kind)
    return ResolvedPath(done, done, kind)


def expand_home(path: str, environ: Mapping[str, str]) -> str:
    """The path with $HOME in place of a leading `~`."""
    if path != "~" and not path.startswith("~/"):
        return path
    if not environ.get("HOME"):
        raise CouldNotLook(f"{path}: HOME is not set, so ~ means nothing")
    return environ["HOME"] + path[1:]


def stat_or_none(machine: Machine, path: str) -> Stat | None:
    """The file's stat; None if there is no such file."""
    return unless_absent(lambda: machine.stat(path))


def text_or_none(machine: Machine, path: str, *, limit_bytes: int = 4 << 20) -> str | None:
    """The file's text; None if there is no such file."""
    return unless_absent(lambda: machine.read(path, limit_bytes=limit_bytes))


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
