"""What a rule says: a finding that begins, or one that is over. Both are facts about the job, made of plain data."""

from typing import Any

from skyrl_doctor.catalogue import catalogue
from skyrl_doctor.core.model import Finding, Location, Remedy, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.report.json import finding_data


@record(kw_only=True)
class Raised:
    """A known failure, seen now. `key` names this finding among those of the run: it is reported once.

    `root` tells a cause, which ends the run whatever waits; a policy may act upon it. A symptom is never acted upon.
    """

    at: float
    id: str
    key: str
    finding: Finding
    root: bool = False

    @property
    def slug(self) -> str:
        entry = catalogue().find(self.id)
        return entry.slug if entry else "unlisted"


@record(kw_only=True)
class Cleared:
    """What the key names has passed."""

    at: float
    key: str


Said = Raised | Cleared


def raised(
    at: float,
    id: str,  # noqa: A002 -- the catalogue's word
    message: str,
    *,
    key: str = "",
    root: bool = False,
    severity: Severity = Severity.ERROR,
    evidence: tuple[str, ...] = (),
    location: Location | None = None,
    remedy: Remedy | None = None,
) -> Raised:
    finding = Finding(message=message, evidence=evidence, location=location, remedy=remedy, severity=severity)
    return Raised(at=at, id=id, key=key or id, finding=finding, root=root)


def data(one: Raised) -> dict[str, Any]:
    """As JSON has it, in the report's form."""
    return {"id": one.id, "slug": one.slug, "key": one.key, "root": one.root, **finding_data(one.finding)}
