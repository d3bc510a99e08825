"""One pass over what the ten checks ask."""

from dataclasses import dataclass

from skyrl_doctor.core.check import probe
from skyrl_doctor.machine.base import Machine, unless_absent

DIRECTORIES = ("/tmp", "/var/tmp", "/dev/shm")
FILES = ("/etc/passwd", "/etc/group", "/etc/hosts", "/usr/bin/env")


@dataclass(frozen=True, slots=True)
class Basics:
    kinds: dict[str, str]
    used_percent: float


@probe(limit_s=2.0)
def basics(machine: Machine) -> Basics:
    found = {path: unless_absent(lambda path=path: machine.stat(path)) for path in (*DIRECTORIES, *FILES)}
    space = machine.space("/")
    kinds = {path: stat.kind if stat else "absent" for path, stat in found.items()}
    return Basics(kinds, 100.0 * (1 - space.free_bytes / space.total_bytes))
