"""Builds findings about the plan, located at the user's line under the user's key."""

from collections.abc import Mapping

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import CORRECT, Finding, Location, Remedy, RemedyKind, Severity
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.violation import Violation

NO_PLAN = "no configuration given"
UNKNOWN_PROGRAM = "the rules of this program are not known"
"""What a check lacks that compares the settings with the program's own rules."""


def required(plan: Plan) -> Plan:
    """The plan. Raises NotApplicable if no target was given."""
    if not plan:
        raise NotApplicable(NO_PLAN)
    return plan


def finding(plan: Plan, violation: Violation, *, severity: Severity | None = None) -> Finding:
    """The finding for a violation of the trainer's constraints."""
    return config_finding(
        violation.message,
        plan.place(violation.key),
        plan.settings(violation.settings),
        severity=severity or (Severity.ERROR if violation.fatal else Severity.WARNING),
    )


def config_finding(
    message: str,
    location: Location | None,
    settings: Mapping[str, str] | None = None,
    *,
    summary: str = "",
    severity: Severity = Severity.ERROR,
    evidence: tuple[str, ...] = (),
    moves: Mapping[str, str] | None = None,
    removes: tuple[str, ...] = (),
) -> Finding:
    """A finding whose remedy is an edit of the configuration."""
    remedy = Remedy(
        kind=RemedyKind.FIX_CONFIG,
        summary=summary or _summary(settings, moves, removes),
        settings=dict(settings or {}),
        moves=dict(moves or {}),
        removes=removes,
    )
    return Finding(message=message, evidence=evidence, location=location, remedy=remedy, severity=severity)


def _summary(settings: Mapping[str, str] | None, moves: Mapping[str, str] | None, removes: tuple[str, ...]) -> str:
    if moves:
        return "rename the key" if len(moves) == 1 else "rename the keys"
    if not settings:
        return f"remove {', '.join(removes)}" if removes else CORRECT
    return "use this setting" if len(settings) == 1 else "use these settings"
