"""Whether what a check gave is what its types say: the checks of strangers are not type-checked, and reports rely on it."""

from collections.abc import Iterable, Mapping

from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind, Severity


def is_valid_finding(found: object) -> bool:
    """A Finding whose every value is of its declared type."""
    return (
        isinstance(found, Finding)
        and isinstance(found.message, str)
        and _texts(found.evidence)
        and isinstance(found.severity, Severity)
        and (found.location is None or _is_location(found.location))
        and (found.remedy is None or _is_remedy(found.remedy))
    )


def _is_location(found: object) -> bool:
    return (
        isinstance(found, Location)
        and isinstance(found.file, str)
        and (found.line is None or isinstance(found.line, int))
        and (found.key is None or isinstance(found.key, str))
    )


def _is_remedy(found: object) -> bool:
    return (
        isinstance(found, Remedy)
        and isinstance(found.kind, RemedyKind)
        and isinstance(found.summary, str)
        and _texts(found.commands)
        and isinstance(found.settings, Mapping)
        and _all_texts((*found.settings, *found.settings.values()))
    )


def _texts(found: object) -> bool:
    return isinstance(found, tuple) and _all_texts(found)


def _all_texts(found: Iterable[object]) -> bool:
    return all(isinstance(text, str) for text in found)
