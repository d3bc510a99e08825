"""Who and where the doctor is."""

import dataclasses

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.model import Role
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine


@record(kw_only=True)
class Host:
    """This process and its machine."""

    name: str
    user: str
    uid: int
    gid: int
    pid: int
    cpus: int
    system: str
    python: str
    cwd: str
    now: float


@record
class Roles:
    """What this machine is examined as. `asked` tells a role that the user named from one that was guessed."""

    roles: frozenset[Role]
    asked: bool

    def __contains__(self, role: object) -> bool:
        return role in self.roles


@probe(limit_s=2.0)
def host(machine: Machine) -> Host:
    """Reads who and where the doctor is."""
    identity = dataclasses.asdict(machine.identity())
    return Host(name=identity.pop("host"), now=machine.now(), **identity)
