"""Plain text: stable, for logs and pipes."""

from collections import defaultdict
from collections.abc import Iterator

from skyrl_doctor.core.model import Finding, Outcome, Status
from skyrl_doctor.report.model import Report


def render(report: Report) -> str:
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    target = " ".join(report.targets) or "none"
    yield f"skyrl-doctor {report.version} on {report.host}: role {'+'.join(report.roles)}, target {target}"
    yield ""
    for outcome in report.outcomes:
        if outcome.status is Status.FAIL:
            yield from _failed(outcome)
    for outcome in report.outcomes:
        if outcome.status is Status.UNKNOWN:
            yield f"UNKNOWN {outcome.id} {outcome.slug}: {outcome.reason}"
    skipped: dict[str, list[str]] = defaultdict(list)
    for outcome in report.outcomes:
        if outcome.status is Status.SKIP:
            skipped[outcome.reason].append(outcome.id)
    for reason, ids in skipped.items():
        yield f"SKIP    {' '.join(ids)}: {reason}"
    passed = [outcome.id for outcome in report.outcomes if outcome.status is Status.PASS]
    if passed:
        yield f"PASS    {' '.join(passed)}"
    yield from (f"NOTE    {note}" for note in report.notes)
    counts = ", ".join(f"{count} {status}" for status, count in report.summary.items())
    yield ""
    yield f"verdict: {report.verdict} ({counts}; {report.duration_s:.2f} s)"


def _failed(outcome: Outcome) -> Iterator[str]:
    yield f"FAIL    {outcome.id} {outcome.slug}" + (f" ({outcome.reason})" if outcome.reason else "")
    for finding in outcome.findings:
        yield from (f"        {line}" for line in _finding(finding))


def _finding(finding: Finding) -> Iterator[str]:
    yield f"{finding.severity.word}: {finding.message}"
    if finding.location:
        place = ":".join(str(part) for part in (finding.location.file, finding.location.line) if part is not None)
        yield f"  at {place}" + (f" ({finding.location.key})" if finding.location.key else "")
    yield from (f"  seen: {line}" for line in finding.evidence)
    if finding.remedy:
        yield f"  do: {finding.remedy.summary}"
        yield from (f"      $ {command}" for command in finding.remedy.commands)
        yield from (f"      {name} = {value}" for name, value in finding.remedy.settings.items())
