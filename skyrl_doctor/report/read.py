"""Parses the JSON report (schema 1) of another node into outcomes. Malformed JSON is CouldNotLook."""

from collections.abc import Mapping
from typing import Any

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Severity, Status


def outcomes(data: Mapping[str, Any]) -> tuple[Outcome, ...]:
    """The outcomes of a report. Raises CouldNotLook."""
    try:
        return tuple(_outcome(one) for one in data["outcomes"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CouldNotLook(f"not a report of schema 1: {type(error).__name__}: {error}") from None


def _outcome(one: Mapping[str, Any]) -> Outcome:
    return Outcome(
        id=_text(one["id"]),
        slug=_text(one["slug"]),
        status=Status(one["status"]),
        findings=tuple(_finding(found) for found in one["findings"]),
        reason=_text(one["reason"]),
        duration_s=float(one["duration_s"]),
    )


def _finding(found: Mapping[str, Any]) -> Finding:
    place, remedy = found["location"], found["remedy"]
    return Finding(
        message=_text(found["message"]),
        severity=Severity[_text(found["severity"]).upper()],
        evidence=_texts(found["evidence"]),
        location=None if place is None else Location(_text(place["file"]), place["line"], place["key"]),
        remedy=None if remedy is None else _remedy(remedy),
    )


def _remedy(data: Mapping[str, Any]) -> Remedy:
    return Remedy(
        kind=RemedyKind(data["kind"]),
        summary=_text(data["summary"]),
        commands=_texts(data["commands"]),
        settings={_text(name): _text(value) for name, value in data["settings"].items()},
        safe=data["safe"] is True,
    )


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError(f"{str(values)[:80]!r} is not a list")
    return tuple(map(_text, values))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:80]!r} is not a string")
    return value
