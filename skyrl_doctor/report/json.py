"""JSON, schema 1 (schema-1.json beside this file)."""

import json
from dataclasses import asdict
from typing import Any

from skyrl_doctor.core.model import Finding, Outcome
from skyrl_doctor.report.model import Batch, Report
from skyrl_doctor.report.plain import encodable

SCHEMA = 1


def render(report: Report) -> str:
    return encode(as_data(report))


def render_batch(batch: Batch) -> str:
    """Several runs: the report of each, and the refused targets."""
    refused = [{"target": refusal.target, "reason": refusal.reason} for refusal in batch.refused]
    runs = [as_data(report) for report in batch.reports]
    return encode({"schema": SCHEMA, "verdict": batch.verdict, "runs": runs, "refused": refused})


def encode(data: object) -> str:
    """JSON in ASCII, which any locale can print."""
    return json.dumps(_encodable(data), indent=2, allow_nan=False) + "\n"


def as_data(report: Report) -> dict[str, Any]:
    """The report as JSON types, schema 1."""
    return {
        "schema": SCHEMA,
        "verdict": report.verdict,
        "role": "+".join(report.roles),
        "target": {"files": list(report.printed_targets), "dialect": report.dialect},
        "host": report.host,
        "version": report.version,
        "duration_s": round(report.duration_s, 4),
        "summary": dict(report.summary),
        "notes": list(report.notes),
        "nodes": None if report.nodes is None else {state: list(names) for state, names in report.nodes.items()},
        "outcomes": [outcome_data(outcome) for outcome in report.outcomes],
    }


def outcome_data(outcome: Outcome) -> dict[str, Any]:
    return {
        "id": outcome.id,
        "slug": outcome.slug,
        "status": outcome.status.value,
        "severity": outcome.severity.word if outcome.severity else None,
        "reason": outcome.reason,
        "duration_s": round(outcome.duration_s, 4),
        "findings": [finding_data(finding) for finding in outcome.findings],
    }


def finding_data(finding: Finding) -> dict[str, Any]:
    remedy = finding.remedy
    return {
        "message": finding.message,
        "severity": finding.severity.word,
        "evidence": list(finding.evidence),
        "location": asdict(finding.location) if finding.location else None,
        "remedy": None
        if remedy is None
        else {
            "kind": remedy.kind.value,
            "summary": remedy.summary,
            "commands": list(remedy.commands),
            "settings": dict(remedy.settings),
            **({"moves": dict(remedy.moves)} if remedy.moves else {}),
            **({"removes": list(remedy.removes)} if remedy.removes else {}),
            "safe": remedy.safe,
        },
    }


def _encodable(data: object) -> object:
    match data:
        case str():
            return encodable(data)
        case list():
            return [_encodable(item) for item in data]
        case dict():
            return {_encodable(name): _encodable(value) for name, value in data.items()}
    return data
