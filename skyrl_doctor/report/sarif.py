"""SARIF 2.1.0, for code scanning: a result for each finding, a notification for each unknown check.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from skyrl_doctor.core.model import Finding, Location, Outcome, Severity, Status
from skyrl_doctor.report.lines import finding_text, rank_findings
from skyrl_doctor.report.model import Batch, Report
from skyrl_doctor.report.plain import plain

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: Report) -> str:
    return _text([report], [])


def render_batch(batch: Batch) -> str:
    """Several runs in one: code scanning takes one run of a tool. What is the same in all of them is a result once."""
    return _text(batch.reports, [_notification(refusal.reason, refusal.target) for refusal in batch.refused])


def _text(reports: Sequence[Report], refused: list[dict[str, Any]]) -> str:
    found = [one for report in reports for one in _found(report)]
    rules = {outcome.id: _rule(outcome, report) for report, outcome, _ in found}
    results = {json.dumps(one): one for one in (_result(*of, list(rules)) for of in found)}
    failed = [*(one for report in reports for one in _unknown(report)), *refused]
    notes = [{**_notification(note), "level": "note"} for report in reports for note in report.notes]
    version = {"version": reports[0].version} if reports else {}
    run = {
        "tool": {"driver": {"name": "skyrl-doctor", **version, "rules": list(rules.values())}},
        "invocations": [{"executionSuccessful": not failed, "toolExecutionNotifications": [*failed, *notes]}],
        "results": list(results.values()),
    }
    return f"{json.dumps({'$schema': SCHEMA, 'version': '2.1.0', 'runs': [run]}, indent=2)}\n"


def _unknown(report: Report) -> Iterator[dict[str, Any]]:
    for outcome in report.outcomes:
        if outcome.status is Status.UNKNOWN:
            yield _notification(f"{outcome.id} {outcome.slug}: {outcome.reason}")


def _found(report: Report) -> Iterator[tuple[Report, Outcome, Finding]]:
    for outcome, finding in rank_findings(report.outcomes):
        yield report, outcome, finding


def _rule(outcome: Outcome, report: Report) -> dict[str, Any]:
    page = report.pages.get(outcome.id)
    return {"id": outcome.id, "name": outcome.slug, **({"helpUri": page} if page else {})}


def _result(report: Report, outcome: Outcome, finding: Finding, rules: list[str]) -> dict[str, Any]:
    """A finding. One without a place, as of the machine, is put at the target, because code scanning needs a file."""
    place = finding.location or next((Location(target) for target in report.printed_targets), None)
    return {
        "ruleId": outcome.id,
        "ruleIndex": rules.index(outcome.id),
        "level": _LEVELS[finding.severity],
        "message": {"text": finding_text(finding)},
        **({"locations": [_location(place)]} if place is not None else {}),
    }


def _location(place: Location) -> dict[str, Any]:
    region = {} if place.line is None else {"region": {"startLine": place.line}}
    path = quote(place.file.encode("utf-8", "surrogateescape"))
    uri = f"file://{path}" if path.startswith("/") else path
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, **region}}


def _notification(text: str, target: str = "") -> dict[str, Any]:
    return {"level": "warning", "message": {"text": plain(f"{target}: {text}" if target else text)}}
