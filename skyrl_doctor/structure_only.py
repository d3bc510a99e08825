"""Selects the checks of `--structure-only`: those that need the configuration but no machine."""

from collections.abc import Iterable

from skyrl_doctor.core.check import Check
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.plan.model import Plan

KINDS = (Plan, Roles)


def config_only(checks: Iterable[Check]) -> tuple[tuple[Check, ...], dict[type, None]]:
    """The checks that need only the plan, and their optional facts, preset to None."""
    chosen = tuple(
        check
        for check in checks
        if any(need.kind is Plan for need in check.needs)
        and all(need.kind in KINDS or need.optional for need in check.needs)
    )
    optional = {need.kind for check in chosen for need in check.needs if need.kind not in KINDS}
    return chosen, dict.fromkeys(optional)
