"""Merges the reports of many nodes into one, and sorts the nodes by state. Pure."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from skyrl_doctor.core.engine import exit_code
from skyrl_doctor.core.model import Finding, Outcome, Severity, Status
from skyrl_doctor.core.record import record
from skyrl_doctor.nodes.drift import Difference, drift
from skyrl_doctor.nodes.node_report import NodeReport, NodeResult, NoReport

ID, SLUG = "SLM003", "multinode-not-ready"


@record(kw_only=True)
class NodesByState:
    """The names of the nodes by state; each node is in one list."""

    passing: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@record
class Merged:
    """One outcome per check for all nodes, notes about single nodes, and the nodes by state."""

    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...]
    nodes: NodesByState


def merge(results: Mapping[str, NodeResult], fail_on: Severity = Severity.ERROR) -> Merged:
    """Merges the results of every node, which are in the order of the job."""
    reports = [result for result in results.values() if isinstance(result, NodeReport)]
    without_report = {node: result.reason for node, result in results.items() if isinstance(result, NoReport)}
    differences = tuple(drift(reports))
    ids = sorted({outcome.id for report in reports for outcome in report.outcomes} | {ID})
    made = tuple(
        _merge_check(id_, reports, differences if id_ == ID else (), without_report if id_ == ID else {}) for id_ in ids
    )
    return Merged(made, tuple(_notes(reports, without_report)), _by_state(results, reports, differences, fail_on))


def _merge_check(
    id_: str, reports: Sequence[NodeReport], differences: Sequence[Difference], without_report: Mapping[str, str]
) -> Outcome:
    """The outcome of one check over all nodes: fail, else unknown, else pass or skip."""
    by_node = {report.node: outcome for report in reports for outcome in report.outcomes if outcome.id == id_}
    statuses = [outcome.status for outcome in by_node.values()]
    found = (*_findings(by_node, len(reports)), *(difference.finding for difference in differences))
    unknown = {node: outcome.reason for node, outcome in by_node.items() if outcome.status is Status.UNKNOWN} | dict(
        without_report
    )
    first = next(iter(by_node.values()), Outcome(id=ID, slug=SLUG, status=Status.PASS))
    if found:
        return dataclasses.replace(first, status=Status.FAIL, findings=found, reason="")
    if unknown:
        return dataclasses.replace(first, status=Status.UNKNOWN, findings=(), reason=_by_reason(unknown))
    if Status.SKIP in statuses and (id_ != ID or len(reports) < 2):
        skipped = next(outcome for outcome in by_node.values() if outcome.status is Status.SKIP)
        passed = next((outcome for outcome in by_node.values() if outcome.status is Status.PASS), None)
        return passed or skipped
    return dataclasses.replace(first, status=Status.PASS, findings=(), reason="")


def _findings(by_node: Mapping[str, Outcome], total: int) -> Iterator[Finding]:
    """Each finding once, with the names of its nodes, unless all nodes have it."""
    having: dict[tuple[Severity, str], list[str]] = {}
    first: dict[tuple[Severity, str], Finding] = {}
    for node, outcome in by_node.items():
        for finding in outcome.findings if outcome.status is Status.FAIL else ():
            key = (finding.severity, finding.message)
            first.setdefault(key, finding)
            having.setdefault(key, []).append(node)
    for key, finding in first.items():
        nodes = having[key]
        everywhere = len(nodes) == total and total > 1
        yield finding if everywhere else dataclasses.replace(finding, message=f"{', '.join(nodes)}: {finding.message}")


def _by_reason(unknown: Mapping[str, str]) -> str:
    nodes: dict[str, list[str]] = {}
    for node, reason in unknown.items():
        nodes.setdefault(reason, []).append(node)
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in nodes.items())


def _notes(reports: Sequence[NodeReport], without_report: Mapping[str, str]) -> Iterator[str]:
    """Notes on unknown nodes and checks, which a failed outcome does not contain."""
    for node, reason in without_report.items():
        yield f"node {node} is unknown: {reason}"
    for report in reports:
        for outcome in report.outcomes:
            if outcome.status is Status.UNKNOWN:
                yield f"{outcome.id} is unknown on {report.node}: {outcome.reason}"


def _by_state(
    results: Mapping[str, NodeResult],
    reports: Sequence[NodeReport],
    differences: Sequence[Difference],
    fail_on: Severity,
) -> NodesByState:
    """Sorts the nodes. A finding on every node does not count, because excluding nodes would not help."""
    codes = {report.node: exit_code(_own_outcomes(report, reports), fail_on) for report in reports}
    for difference in differences:
        codes |= dict.fromkeys(difference.nodes, 1) if difference.finding.severity >= fail_on else {}
    return NodesByState(
        passing=tuple(node for node in results if codes.get(node) == 0),
        failing=tuple(node for node in results if codes.get(node) == 1),
        unknown=tuple(node for node in results if codes.get(node, 3) == 3),
    )


def _own_outcomes(report: NodeReport, reports: Sequence[NodeReport]) -> list[Outcome]:
    """A node's outcomes without the findings that all nodes have."""
    common = set.intersection(*(_finding_keys(one) for one in reports)) if len(reports) > 1 else set()
    kept = []
    for outcome in report.outcomes:
        left = tuple(one for one in outcome.findings if (outcome.id, one.message) not in common)
        gone = outcome.status is Status.FAIL and not left
        kept.append(dataclasses.replace(outcome, findings=left, status=Status.PASS if gone else outcome.status))
    return kept


def _finding_keys(report: NodeReport) -> set[tuple[str, str]]:
    return {(outcome.id, one.message) for outcome in report.outcomes for one in outcome.findings}
