"""JUnit XML: one test case a check.

A finding at or above --fail-on is a failure, UNKNOWN is an error, SKIP is skipped. With a less severe finding the case
passes and the finding is its output. So the suite fails exactly when the verdict is fail or unknown.
"""

from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from skyrl_doctor.core.model import Outcome, Severity, Status
from skyrl_doctor.report.lines import finding_text
from skyrl_doctor.report.model import Batch, Report
from skyrl_doctor.report.plain import plain

SUITE = "skyrl-doctor"
COUNTS = ("tests", "failures", "errors", "skipped", "time")
WHOLE = ("tests", "failures", "errors", "time")
"""Jenkins' junit-10.xsd has no count of skipped cases for all suites together."""


def render(report: Report) -> str:
    suite = _suite(report, SUITE)
    root = ET.Element("testsuites", {name: suite.attrib[name] for name in WHOLE})
    root.append(suite)
    return _text(root)


def render_batch(batch: Batch) -> str:
    """Several runs: a suite for each, and one for the refused targets."""
    suites = [_suite(report, " ".join((SUITE, *report.printed_targets))) for report in batch.reports]
    if batch.refused:
        cases = []
        for refusal in batch.refused:
            case = ET.Element("testcase", {"classname": SUITE, "name": plain(refusal.target), "time": "0.000"})
            ET.SubElement(case, "error", {"message": plain(refusal.reason), "type": "refused"})
            cases.append(case)
        refused = ET.Element("testsuite", {"name": f"{SUITE} refused", **_counts(cases, 0.0)})
        refused.extend(cases)
        suites.append(refused)
    whole = {name: str(sum(int(suite.attrib[name]) for suite in suites)) for name in WHOLE[:-1]}
    root = ET.Element("testsuites", {**whole, "time": f"{sum(float(suite.attrib['time']) for suite in suites):.3f}"})
    root.extend(suites)
    return _text(root)


def _suite(report: Report, name: str) -> ET.Element:
    cases = [_case(outcome, report.fail_on) for outcome in report.outcomes]
    counts = _counts(cases, report.duration_s)
    suite = ET.Element("testsuite", {"name": plain(name), **counts, "hostname": plain(report.host), **_when(report)})
    _properties(suite, report)
    suite.extend(cases)
    if report.notes:
        ET.SubElement(suite, "system-out").text = plain("\n".join(report.notes))
    return suite


def _counts(cases: list[ET.Element], seconds: float) -> dict[str, str]:
    numbers = (str(len(cases)), _count(cases, "failure"), _count(cases, "error"), _count(cases, "skipped"))
    return dict(zip(COUNTS, (*numbers, f"{seconds:.3f}"), strict=True))


def _text(root: ET.Element) -> str:
    ET.indent(root)
    text = ET.tostring(root, encoding="us-ascii", xml_declaration=False).decode("ascii")  # any locale can print it
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _properties(suite: ET.Element, report: Report) -> None:
    values = {
        "version": report.version,
        "verdict": report.verdict,
        "role": "+".join(report.roles),
        "target": " ".join(report.printed_targets),
    }
    properties = ET.SubElement(suite, "properties")
    for name, value in values.items():
        ET.SubElement(properties, "property", {"name": name, "value": plain(value)})


def _case(outcome: Outcome, fail_on: Severity) -> ET.Element:
    family = outcome.id.rstrip("0123456789")
    name = {"classname": f"{SUITE}.{family}", "name": f"{outcome.id} {outcome.slug}"}
    case = ET.Element("testcase", {**name, "time": f"{outcome.duration_s:.3f}"})
    findings = sorted(outcome.findings, key=lambda finding: -finding.severity)
    text = "\n\n".join(finding_text(finding) for finding in findings)
    match outcome.status:
        case Status.UNKNOWN:
            ET.SubElement(case, "error", {"message": plain(outcome.reason), "type": "unknown"})
        case Status.SKIP:
            ET.SubElement(case, "skipped", {"message": plain(outcome.reason)})
        case Status.FAIL if outcome.severity is not None and outcome.severity >= fail_on:
            message = plain("; ".join(finding.message for finding in findings))
            ET.SubElement(case, "failure", {"message": message, "type": outcome.severity.word}).text = text
            return case
    if text:  # a less severe finding, or a waived one
        ET.SubElement(case, "system-out").text = text
    return case


def _count(cases: list[ET.Element], tag: str) -> str:
    return str(sum(case.find(tag) is not None for case in cases))


def _when(report: Report) -> dict[str, str]:
    if report.finished_at is None:
        return {}
    started = datetime.fromtimestamp(report.finished_at - report.duration_s, UTC)
    return {"timestamp": started.strftime("%Y-%m-%dT%H:%M:%S")}
