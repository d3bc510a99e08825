"""What checks of the plan share: a broken rule becomes a finding at the user's own line, under the user's own key."""

from collections.abc import Mapping

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind, Severity
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.violation import Violation

NO_PLAN = "no configuration was given"


def required(plan: Plan) -> Plan:
    """The plan, where there is one."""
    if not plan:
        raise NotApplicable(NO_PLAN)
    return plan


def finding(plan: Plan, violation: Violation, *, severity: Severity | None = None) -> Finding:
    """A violation as a finding."""
    return fault(
        violation.message,
        plan.place(violation.key),
        plan.settings(violation.settings),
        severity=severity or (Severity.ERROR if violation.fatal else Severity.WARNING),
    )


def fault(
    message: str,
    location: Location | None,
    settings: Mapping[str, str] | None = None,
    *,
    summary: str = "change the setting",
    severity: Severity = Severity.ERROR,
    evidence: tuple[str, ...] = (),
) -> Finding:
    """A finding whose remedy is a change of the configuration."""
    remedy = Remedy(kind=RemedyKind.FIX_CONFIG, summary=summary, settings=dict(settings or {}))
    return Finding(message=message, evidence=evidence, location=location, remedy=remedy, severity=severity)
