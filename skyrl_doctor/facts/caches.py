"""The cache directories of the compilers: their file systems, and whether this user can write to them."""

import os

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.mounts import Mount, Mounts
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.paths import resolve_links
from skyrl_train.node.caches import Cache, scratch_candidates
from skyrl_train.node.caches import caches as caches_of


@record(kw_only=True)
class CachePlace:
    """The directory of a cache, or a scratch directory that could hold the caches (`cache` None).

    `trouble`: why it is not writable, empty if it is. `unreadable`: why nothing is known about it.
    """

    path: str
    cache: Cache | None = None
    resolved: str = ""
    mount: Mount | None = None
    trouble: str = ""
    unreadable: str = ""

    @property
    def label(self) -> str:
        """The path, with its target if it is a symbolic link."""
        return self.path if self.resolved in ("", self.path) else f"{self.path} (a symbolic link to {self.resolved})"

    @property
    def broken(self) -> str:
        """Why compiled code cannot be written there or loaded from there; empty if it can."""
        if self.cache is not None and not self.cache.path:
            return f"{self.cache.variable} is set but empty"
        if self.trouble:
            return f"{self.label} cannot be used: {self.trouble}"
        if self.mount is not None and "noexec" in self.mount.options:
            return f"{self.label} is on {self.mount.point}, which is mounted noexec"
        return ""

    @property
    def remote(self) -> str:
        """The network file system that it is on; empty for a local disk."""
        if self.mount is not None and self.mount.is_network:
            return f"{self.label} is on {self.mount.kind} ({self.mount.point})"
        return ""

    @property
    def fit(self) -> bool:
        """Whether compiled code can be written to and loaded from this directory, and the directory is local."""
        return not (self.broken or self.remote or self.unreadable)


@record
class Caches:
    places: tuple[CachePlace, ...]
    scratch: tuple[CachePlace, ...]

    def of(self, program: str) -> CachePlace:
        return next(place for place in self.places if place.cache is not None and place.cache.program == program)

    @property
    def unfit(self) -> tuple[str, ...]:
        """The unfit paths, as the trainer's rule expects them."""
        caches = (place.cache.path for place in self.places if place.cache is not None and not place.fit)
        return (*caches, *(place.path for place in self.scratch if not place.fit))


@probe(limit_s=5.0)
def caches(machine: Machine, environ: Environ, host: Host, mounts: Mounts) -> Caches:
    """Reads the target, the file system and the permissions of each cache directory. Creates nothing."""
    home = environ.get("HOME")
    if home is None:
        raise CouldNotLook("HOME is not set, so the compilers' cache directories are unknown")
    found = caches_of(environ, home=home, user=host.user)
    return Caches(
        places=tuple(_place(machine, cache.path, host.cwd, mounts, cache) for cache in found),
        scratch=tuple(_place(machine, path, host.cwd, mounts, None) for path in scratch_candidates(environ)),
    )


def _place(machine: Machine, path: str, cwd: str, mounts: Mounts, cache: Cache | None) -> CachePlace:
    full = os.path.normpath(os.path.join(cwd, path))
    try:
        place = resolve_links(machine, full)
        trouble = _trouble(machine, place.existing, place.kind)
    except CouldNotLook as reason:
        return CachePlace(path=full, cache=cache, unreadable=str(reason))
    mount = mounts.of(place.resolved)
    unseen = ""
    if mount is None or mount.kind == "autofs":
        unseen = f"{full}: the mount table does not name its file system"
    return CachePlace(path=full, cache=cache, resolved=place.resolved, mount=mount, trouble=trouble, unreadable=unseen)


def _trouble(machine: Machine, existing: str, kind: str) -> str:
    if kind != "dir":
        return f"{existing} is a {kind}, not a directory"
    return "" if machine.writable(existing) else f"{existing} is not writable by this user"
