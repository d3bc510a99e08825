"""Readers and rules of other programs as judges of our reports."""

import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

from benchmarks.suites.cases import Case
from report_samples import MIXED, OUTCOMES
from skyrl_doctor.report.formats import render, render_batch
from skyrl_doctor.report.model import Batch, Refusal, Report

# Jenkins' junit-10.xsd in our words: the attributes of an element, the required ones, and its children.
_JUNIT = {
    "testsuites": ("name time tests failures errors", "", "testsuite"),
    "testsuite": (
        "name tests failures errors group time skipped timestamp hostname id package file log url version",
        "name tests failures errors",
        "testsuite properties testcase system-out system-err",
    ),
    "testcase": ("name time classname group", "name", "skipped error failure system-out system-err"),
    "properties": ("", "", "property"),
    "property": ("name value", "name value", ""),
    "skipped": ("type message", "", ""),
    "error": ("type message", "", ""),
    "failure": ("type message", "", ""),
    "system-out": ("", "", ""),
    "system-err": ("", "", ""),
}
_TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?")
# "::error file=a,line=1,title=b::text": the keys that GitHub reads, with %, line ends and separators escaped
_ANNOTATION = re.compile(
    r"::(?:error|warning|notice|debug|group|endgroup)(?: (?:(?:file|line|endLine|col|endColumn|title)=[^,\r\n]*)"
    r"(?:,(?:file|line|endLine|col|endColumn|title)=[^,\r\n]*)*)?::[^\r\n]*"
)


def texts(name: str) -> Iterator[tuple[str, str]]:
    """The sample report, a report of each outcome alone, and several reports, in a format."""
    other = dataclasses.replace(MIXED, targets=("other.toml",))
    yield "report", render(MIXED, name)
    yield "batch", render_batch(Batch(reports=(MIXED, other), refused=(Refusal("x.sh", "no\nrun: 5%"),)), name)
    for outcome in OUTCOMES:
        for fault in ("plain", '<a> & "b" ]]> \x1b[31m\n::error::x, 5% \\ é'):
            yield f"{outcome.id} {fault!r}", render(_with(outcome.id, fault), name)


def _with(name: str, message: str) -> Report:
    (outcome,) = (one for one in OUTCOMES if one.id == name)
    findings = tuple(dataclasses.replace(finding, message=message) for finding in outcome.findings)
    return dataclasses.replace(MIXED, outcomes=(dataclasses.replace(outcome, findings=findings),))


def junit(_: Path) -> Iterator[Case]:
    """The rules of Jenkins' junit-10.xsd, in our words."""
    for name, text in texts("junit"):
        yield Case(name, [*_junit_faults(ET.fromstring(text.encode()))], [])


def _junit_faults(element: ET.Element) -> Iterator[str]:
    allowed, required, children = (words.split() for words in _JUNIT[element.tag])
    yield from (f"{element.tag} has {name}" for name in element.attrib if name not in allowed)
    yield from (f"{element.tag} has no {name}" for name in required if name not in element.attrib)
    if element.tag != "testcase" and not _TIME.fullmatch(element.get("time", "")):
        yield f"time {element.get('time')}"
    for child in element:
        yield from _junit_faults(child) if child.tag in children else [f"{child.tag} in {element.tag}"]


def junit_xsd(checkout: Path) -> Iterator[Case]:
    """Jenkins' junit-10.xsd itself."""
    import xmlschema  # type: ignore[import-not-found]

    schema = xmlschema.XMLSchema(next(checkout.rglob("junit-10.xsd")))
    for name, text in texts("junit"):
        yield Case(name, [str(error.reason) for error in schema.iter_errors(ET.fromstring(text.encode()))], [])


def prometheus(_: Path) -> Iterator[Case]:
    """prometheus_client reads each report, with a type and a help text for each metric, and no sample twice."""
    from prometheus_client.parser import text_string_to_metric_families

    for name, text in texts("prometheus"):
        families = [*text_string_to_metric_families(text)]
        bare = [one.name for one in families if not one.documentation or one.type == "unknown"]
        samples = [(one.name, tuple(sorted(one.labels.items()))) for family in families for one in family.samples]
        yield Case(f"{name}: described", bare, [])
        yield Case(f"{name}: once", len(samples), len(set(samples)))


def github(_: Path) -> Iterator[Case]:
    """Each line is an annotation by GitHub's rules: nothing of a message ends it or begins another."""
    for name, text in texts("github"):
        yield Case(
            name, [line for line in text.splitlines() if line.startswith("::") and not _ANNOTATION.fullmatch(line)], []
        )
        yield Case(f"{name}: forged", [line for line in text.splitlines() if line.startswith("::error::x")], [])


def schemas(_: Path) -> Iterator[Case]:
    """Our published JSON schemas hold for each report, and are schemas."""
    import jsonschema

    schema = json.loads(Path("docs/schema-1.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for name, text in texts("json"):
        yield Case(name, [error.message for error in validator.iter_errors(json.loads(text))], [])
