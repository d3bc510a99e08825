"""The doctor's own process and host, and the roles of this machine."""

import dataclasses

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.model import Role
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine


@record(kw_only=True)
class Host:
    """The doctor's process and its host."""

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
    """The roles that this machine is examined as. `asked`: the user named them; otherwise they are guessed."""

    roles: frozenset[Role]
    asked: bool

    def __contains__(self, role: object) -> bool:
        return role in self.roles

    @property
    def sees_the_run(self) -> bool:
        """Whether a path that is missing here is missing for the run: a GPU node may have other drives than a laptop."""
        return self.asked or Role.GPU in self.roles


@probe(limit_s=2.0)
def host(machine: Machine) -> Host:
    """Reads the identity of the doctor's process."""
    identity = dataclasses.asdict(machine.identity())
    return Host(name=identity.pop("host"), now=machine.now(), **identity)
