"""Where a run's images can come from besides its store."""

from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of


@record(kw_only=True)
class ImageSupply:
    """`archive` is the directory that the plan names, "" for none; `archives` its file names, None where there is no
    such directory. `logins` are registries that a login is kept for.
    """

    archive: str = ""
    archives: frozenset[str] | None = None
    logins: tuple[str, ...] = ()


def parse_logins(text: str) -> tuple[str, ...]:
    """The answer of children/registry_logins.py."""
    return answer_of(text, "registry logins").texts("logins")
