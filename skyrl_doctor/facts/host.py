"""Who and where the doctor is."""

from skyrl_doctor.core.model import Role
from skyrl_doctor.core.record import record


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
