"""Judges the other iterations of a loop and tasks of a job array, by the checks that need the configuration alone."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from skyrl_doctor.core.check import Check
from skyrl_doctor.core.engine import Redact, examine
from skyrl_doctor.core.gather import Gathering
from skyrl_doctor.core.model import Finding, Outcome, Status
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.structure_only import config_only


def over_iterations(
    outcomes: Iterable[Outcome],
    others: Sequence[Plan],
    checks: Sequence[Check],
    roles: Roles,
    *,
    limit_s: float,
    redact: Redact,
) -> Iterator[Outcome]:
    """The outcomes of one iteration with the findings that only the others have. Each finding is there once."""
    if not others:
        yield from outcomes
        return
    chosen, absent = config_only(checks)
    found: dict[str, list[Finding]] = {check.id: [] for check in chosen}
    for plan in others:
        gathering = Gathering({}, {Plan: plan, Roles: roles, **absent}, deadline_s=limit_s)
        for outcome in examine(chosen, gathering, redact=redact):
            found[outcome.id] += outcome.findings
    for outcome in outcomes:
        yield _joined(outcome, found[outcome.id], len(others) + 1) if outcome.id in found else outcome


def _joined(outcome: Outcome, others: Sequence[Finding], count: int) -> Outcome:
    """The outcome with the findings of all iterations; one that not all have says how many have it."""
    every = [*outcome.findings, *others]
    times = Counter(map(_same, every))
    once = {_same(finding): finding for finding in reversed(every)}
    findings = tuple(_counted(once[key], times[key], count) for key in dict.fromkeys(map(_same, every)))
    status = Status.FAIL if findings else outcome.status
    return dataclasses.replace(outcome, findings=findings, status=status)


def _counted(finding: Finding, times: int, count: int) -> Finding:
    if times >= count:
        return finding
    return dataclasses.replace(finding, message=f"{finding.message} (in {times} of {count} iterations)")


def _same(finding: Finding) -> tuple[object, ...]:
    return (finding.message, finding.location, finding.severity)
