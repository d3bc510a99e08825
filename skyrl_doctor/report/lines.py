"""The report for people, line by line: what stands where, apart from colour.

Findings come first, the worst of them foremost; what could not be looked at next; the verdict last.
Prose is wrapped; places, commands and settings are not, since they are there to be pasted.
"""

import textwrap
from collections.abc import Iterable, Iterator

from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, Severity, Status
from skyrl_doctor.core.record import record
from skyrl_doctor.report.model import Report
from skyrl_doctor.report.plain import plain

MARGIN = 9
"""Columns of the label at the left."""


@record
class Line:
    """One line. `look` is what a terminal may colour: the label where there is one, else the text."""

    text: str = ""
    label: str = ""
    look: str = ""

    def __str__(self) -> str:
        return f"{self.label:<{MARGIN}}{self.text}".rstrip() if self.text or self.label else ""


def lines(report: Report, width: int) -> Iterator[Line]:
    """The whole report for a screen of this width."""
    page = _Page(width - MARGIN)
    sections = [
        page.head(report),
        *(page.found(outcome, finding) for outcome, finding in ranked(report.outcomes)),
        page.grouped(report.outcomes, Status.UNKNOWN),
        page.grouped(report.outcomes, Status.SKIP),
        page.passed(report.outcomes),
        [line for note in report.notes for line in page.prose(note, label="NOTE", look="note")],
        [Line(f"skyrl-doctor explain {id_}", "MORE", "note") for id_ in found_ids(report.outcomes)],
    ]
    for section in sections:
        if section:
            yield from section
            yield Line()
    yield from page.verdict(report)


def ranked(outcomes: Iterable[Outcome]) -> list[tuple[Outcome, Finding]]:
    """The findings that count, errors before warnings before infos, otherwise in the order of the outcomes."""
    found = [
        (outcome, finding) for outcome in outcomes if outcome.status is Status.FAIL for finding in outcome.findings
    ]
    return sorted(found, key=lambda pair: -pair[1].severity)


def found_ids(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """The ids with findings that count, each once, the worst first."""
    return tuple(dict.fromkeys(outcome.id for outcome, _ in ranked(outcomes)))


def finding_text(finding: Finding) -> str:
    """A finding as plain lines of any length, for formats that have their own frame."""
    return "\n".join(line.text for line in _Page(None).finding(finding))


class _Page:
    """Lays out the parts of a report in a column; `columns` None does not wrap."""

    def __init__(self, columns: int | None) -> None:
        self._columns = columns

    def head(self, report: Report) -> list[Line]:
        target = " ".join(report.targets) or "none"
        return self.prose(
            f"{report.version} on {report.host}: role {'+'.join(report.roles)}, target {target}", label="doctor:"
        )

    def found(self, outcome: Outcome, finding: Finding) -> list[Line]:
        word = finding.severity.word
        return [
            Line(f"{outcome.id} {outcome.slug}", word.upper(), word),
            *self.finding(finding),
            *(self.prose(outcome.reason, lead="note: ") if outcome.reason else ()),
        ]

    def finding(self, finding: Finding) -> list[Line]:
        return [
            *self.prose(finding.message),
            *([Line(f"at:   {place(finding.location)}", look="place")] if finding.location else ()),
            *(line for text in finding.evidence for line in self.prose(text, lead="seen: ")),
            *(self._remedy(finding.remedy) if finding.remedy else ()),
        ]

    def _remedy(self, remedy: Remedy) -> Iterator[Line]:
        safe = ", safe" if remedy.safe else ""
        yield from self.prose(f"{remedy.summary} ({remedy.kind}{safe})", lead="do:   ")
        for command in remedy.commands:
            first, *rest = plain(command).split("\n")
            yield Line(f"      $ {first}", look="command")
            yield from (Line(f"        {more}", look="command") for more in rest)
        for name, value in remedy.settings.items():
            if not any(f"{name}={value}" in command for command in remedy.commands):  # said already
                yield Line(f"      {plain(name)} = {plain(value)}", look="command")

    def grouped(self, outcomes: Iterable[Outcome], status: Status) -> list[Line]:
        """Outcomes of one status, those with the same reason together."""
        groups: dict[str, list[Outcome]] = {}
        for outcome in outcomes:
            if outcome.status is status:
                groups.setdefault(outcome.reason, []).append(outcome)
        return [line for reason, group in groups.items() for line in self._group(reason, group, status)]

    def _group(self, reason: str, group: list[Outcome], status: Status) -> Iterator[Line]:
        names = f"{group[0].id} {group[0].slug}" if len(group) == 1 else " ".join(outcome.id for outcome in group)
        yield from self.prose(f"{names}: {reason}", label=status.upper(), look=status.value)
        for outcome in group:  # only a waived outcome has findings here
            for finding in outcome.findings:
                yield from self.prose(f"{finding.severity.word}: {finding.message}", lead="  ")

    def passed(self, outcomes: Iterable[Outcome]) -> list[Line]:
        ids = " ".join(outcome.id for outcome in outcomes if outcome.status is Status.PASS)
        return self.prose(ids, label="PASS", look="pass") if ids else []

    def verdict(self, report: Report) -> list[Line]:
        counts = ", ".join(f"{count} {status}" for status, count in report.summary.items())
        below = "" if report.fail_on is Severity.ERROR else f" on {report.fail_on.word}s too"
        return self.prose(
            f"{report.verdict}{below} ({counts}; {report.duration_s:.2f} s)", label="verdict:", look=report.verdict
        )

    def prose(self, text: str, *, label: str = "", lead: str = "", look: str = "") -> list[Line]:
        """Wrapped text: the label left of its first line, the lead before it, the rest indented as far."""
        texts = [line for part in plain(text).split("\n") for line in self._wrap(part, len(lead))]
        indent = " " * len(lead)
        return [
            Line((indent if at else lead) + line, "" if at else label, "" if at and label else look)
            for at, line in enumerate(texts)
        ]

    def _wrap(self, text: str, indent: int) -> list[str]:
        if self._columns is None:
            return [text]
        columns = max(self._columns - indent, 20)
        # A path, a URL or an id that is cut in two cannot be pasted: long words stay whole.
        return textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False) or [""]


def place(location: Location) -> str:
    """`file:line (key)`, as far as known."""
    line = "" if location.line is None else f":{location.line}"
    key = f" ({location.key})" if location.key else ""
    return plain(f"{location.file}{line}{key}").replace("\n", "\\n")
