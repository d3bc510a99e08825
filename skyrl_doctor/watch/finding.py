"""What a rule yields: an alert that begins, or one that is over. Both are plain data about the job."""

from collections.abc import Mapping
from typing import Any

from skyrl_doctor.catalogue import catalogue
from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.report.json import finding_data


@record
class Change:
    """A setting of the run to change, by canonical key. The new value is `value`; or the present value times `times`, or
    plus `plus`; or the value of the setting `like`."""

    key: str
    value: str = ""
    times: float = 0.0
    plus: int = 0
    like: str = ""


@record(kw_only=True)
class Advice:
    """What to do about an alert. `changes` become settings once the job's configuration is read."""

    kind: RemedyKind
    summary: str
    commands: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()


@record(kw_only=True)
class Alert:
    """A known failure of the running job. `key` names this alert within the run: it is reported once.

    `root` marks a cause, which ends the run whatever waits; a policy may act on it, and never on a symptom. `step` is the
    first bad step; None where the alert is not about steps.
    """

    at: float
    id: str
    key: str
    finding: Finding
    root: bool = False
    changes: tuple[Change, ...] = ()
    step: int | None = None

    @property
    def slug(self) -> str:
        entry = catalogue().find(self.id)
        return entry.slug if entry else "unlisted"


@record(kw_only=True)
class Cleared:
    """The alert with this key is over."""

    at: float
    key: str


Update = Alert | Cleared


def alert(
    at: float,
    id: str,  # noqa: A002 -- the catalogue's word
    message: str,
    *,
    key: str = "",
    root: bool = False,
    severity: Severity = Severity.ERROR,
    evidence: tuple[str, ...] = (),
    location: Location | None = None,
    advice: Advice | None = None,
    step: int | None = None,
) -> Alert:
    """An alert with its finding."""
    remedy = None
    if advice is not None:
        remedy = Remedy(kind=advice.kind, summary=advice.summary, commands=advice.commands)
    finding = Finding(message=message, evidence=evidence, location=location, remedy=remedy, severity=severity)
    changes = advice.changes if advice is not None else ()
    return Alert(at=at, id=id, key=key or id, finding=finding, root=root, changes=changes, step=step)


def read_alert(data: Mapping[str, Any]) -> Alert | None:
    """The alert of an event that `alert_data` made; None for another one."""
    try:
        where = data["location"]
        return alert(
            float(data["at"]),
            str(data["id"]),
            str(data["message"]),
            key=str(data["key"]),
            root=bool(data["root"]),
            severity=Severity[str(data["severity"]).upper()],
            evidence=tuple(str(line) for line in data["evidence"]),
            location=None if where is None else Location(str(where["file"]), where["line"], where["key"]),
            advice=None,
            step=None if data.get("step") is None else int(data["step"]),
        )
    except (KeyError, TypeError, ValueError):
        return None


def alert_data(one: Alert) -> dict[str, Any]:
    """The alert as JSON types, in the form of the report."""
    step = {} if one.step is None else {"step": one.step}
    return {"id": one.id, "slug": one.slug, "key": one.key, "root": one.root, **step, **finding_data(one.finding)}
