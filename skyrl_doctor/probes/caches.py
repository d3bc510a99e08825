"""Looks where the compilers' caches lie: resolved, on which file system, writable or not. Nothing is made."""

import os

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.caches import CachePlace, Caches
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.mounts import Mounts
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.probes.places import place_of
from skyrl_train.node.caches import Cache, scratch_candidates
from skyrl_train.node.caches import caches as caches_of


@probe(limit_s=5.0)
def caches(machine: Machine, environ: Environ, host: Host, mounts: Mounts) -> Caches:
    home = environ.get("HOME")
    if home is None:
        raise CouldNotLook("HOME is unset: wanted it, to know where the compilers keep their caches")
    found = caches_of(environ, home=home, user=host.user)
    return Caches(
        places=tuple(_place(machine, cache.path, host.cwd, mounts, cache) for cache in found),
        scratch=tuple(_place(machine, path, host.cwd, mounts, None) for path in scratch_candidates(environ)),
    )


def _place(machine: Machine, path: str, cwd: str, mounts: Mounts, cache: Cache | None) -> CachePlace:
    full = os.path.normpath(os.path.join(cwd, path))
    try:
        place = place_of(machine, full)
        trouble = _trouble(machine, place.existing, place.kind)
    except CouldNotLook as reason:
        return CachePlace(path=full, cache=cache, unseen=str(reason))
    mount = mounts.of(place.resolved)
    unseen = ""
    if mount is None or mount.kind == "autofs":
        unseen = f"{full}: the mount table does not tell which file system holds it"
    return CachePlace(path=full, cache=cache, resolved=place.resolved, mount=mount, trouble=trouble, unseen=unseen)


def _trouble(machine: Machine, existing: str, kind: str) -> str:
    if kind != "dir":
        return f"{existing} is a {kind}, not a directory"
    return "" if machine.writable(existing) else f"{existing} cannot be written by this user"
