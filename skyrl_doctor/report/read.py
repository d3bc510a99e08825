"""Parses the JSON report (schema 1) of another node into outcomes. Malformed JSON is a FormatError."""

from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_train.contracts.typed import Fields


def outcomes(report: Fields) -> tuple[Outcome, ...]:
    """The outcomes of a report. Raises FormatError."""
    return tuple(map(_outcome, report.objects("outcomes")))


def _outcome(one: Fields) -> Outcome:
    return Outcome(
        id=one.text("id"),
        slug=one.text("slug"),
        status=Status(one.choice("status", [status.value for status in Status])),
        findings=tuple(map(_finding, one.objects("findings"))),
        reason=one.text("reason"),
        duration_s=one.number("duration_s"),
    )


def _finding(found: Fields) -> Finding:
    place, remedy = found.inner_or_none("location"), found.inner_or_none("remedy")
    severity = found.choice("severity", [severity.name.lower() for severity in Severity])
    return Finding(
        message=found.text("message"),
        severity=Severity[severity.upper()],
        evidence=found.texts("evidence"),
        location=None
        if place is None
        else Location(place.text("file"), place.integer("line", None), place.text("key", None)),
        remedy=None if remedy is None else _remedy(remedy),
    )


def _remedy(found: Fields) -> Remedy:
    return Remedy(
        kind=RemedyKind(found.choice("kind", [kind.value for kind in RemedyKind])),
        summary=found.text("summary"),
        commands=found.texts("commands"),
        settings=found.named_texts("settings"),
        moves=found.named_texts("moves") if "moves" in found else {},
        removes=found.texts("removes", ()),
        safe=found.value("safe") is True,
    )
