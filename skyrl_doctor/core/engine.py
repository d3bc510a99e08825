"""Runs checks on facts. A check that crashes is UNKNOWN, and the other checks still run.

Only the engine has a broad except: whatever a probe or a check raises becomes a result.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence

from skyrl_doctor.core.check import Check
from skyrl_doctor.core.gather import FactResult, Gathered, Gathering, Inapplicable, Unavailable, arguments, attempt
from skyrl_doctor.core.model import Finding, Outcome, Remedy, Severity, Status
from skyrl_doctor.core.safe_text import short_repr
from skyrl_doctor.core.time_limit import call_within
from skyrl_doctor.core.validation import is_valid_finding

JUDGE_LIMIT_S = 5.0
Observer = Callable[[Sequence[str], int], None]
Redact = Callable[[str], str]


def silent(pending: Sequence[str], done: int) -> None:
    """An observer that does nothing."""


def examine(
    checks: Sequence[Check], gathering: Gathering, *, redact: Redact = str, observe: Observer = silent
) -> Iterator[Outcome]:
    """Yields one outcome for each check as soon as its facts are gathered, and all before the deadline."""
    waiting = list(checks)
    judged = 0
    facts_open = gathering.gather(need for check in checks for need in check.needs)
    while True:
        gathered = next(facts_open, _END) is _END
        still_waiting = []
        for check in waiting:
            ready = arguments(check.needs, gathering.results)
            if ready is None:
                still_waiting.append(check)
                continue
            yield _redacted(_judge(check, ready, gathering), redact)
            judged += 1
            gathering.advance()
        waiting = still_waiting
        observe(gathering.pending, judged)
        if gathered:
            return


def _judge(check: Check, ready: list[object] | Inapplicable | Unavailable, gathering: Gathering) -> Outcome:
    started = gathering.clock()
    limit_s = min(JUDGE_LIMIT_S, gathering.end - started)
    answer: FactResult = _verdict(check, ready, limit_s) if isinstance(ready, list) else ready
    outcome = Outcome(id=check.id, slug=check.slug, status=Status.PASS, duration_s=gathering.clock() - started)
    match answer:
        case Inapplicable(reason, undecided):
            return dataclasses.replace(outcome, status=Status.SKIP, reason=reason, undecided=undecided)
        case Unavailable(reason):
            return dataclasses.replace(outcome, status=Status.UNKNOWN, reason=reason)
        case Gathered(tuple() as findings):
            return _with_findings(outcome, findings)
    raise AssertionError(f"unexpected result: {answer!r}")


def _verdict(check: Check, facts: list[object], limit_s: float) -> FactResult:
    who = f"check {check.id}"
    return attempt(lambda: call_within(limit_s, lambda: tuple(check.judge(*facts)), who), who)


def _with_findings(outcome: Outcome, findings: tuple[object, ...]) -> Outcome:
    invalid = [item for item in findings if not is_valid_finding(item)]
    if invalid:
        reason = f"check {outcome.id} is broken: it yielded {short_repr(invalid[0])}, which is not a valid Finding"
        return dataclasses.replace(outcome, status=Status.UNKNOWN, reason=reason)
    status = Status.FAIL if findings else Status.PASS
    return dataclasses.replace(
        outcome, status=status, findings=tuple(item for item in findings if isinstance(item, Finding))
    )


def exit_code(outcomes: Iterable[Outcome], fail_on: Severity = Severity.ERROR) -> int:
    """The exit status: 1 for a finding at or above `fail_on`, else 3 if a check is UNKNOWN, else 0."""
    code = 0
    for outcome in outcomes:
        severity = outcome.severity
        if outcome.status is Status.FAIL and severity is not None and severity >= fail_on:
            return 1
        if outcome.status is Status.UNKNOWN:
            code = 3
    return code


def _redacted(outcome: Outcome, redact: Redact) -> Outcome:
    findings = tuple(
        dataclasses.replace(
            finding,
            message=redact(finding.message),
            evidence=tuple(map(redact, finding.evidence)),
            remedy=_redacted_remedy(finding.remedy, redact) if finding.remedy else None,
            location=finding.location and dataclasses.replace(finding.location, file=redact(finding.location.file)),
        )
        for finding in outcome.findings
    )
    return dataclasses.replace(outcome, findings=findings, reason=redact(outcome.reason))


def _redacted_remedy(remedy: Remedy, redact: Redact) -> Remedy:
    return dataclasses.replace(
        remedy,
        summary=redact(remedy.summary),
        commands=tuple(map(redact, remedy.commands)),
        settings={name: redact(value) for name, value in remedy.settings.items()},
    )


_END = object()
