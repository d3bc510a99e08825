"""Lays out the report for people as lines; the terminal reporter adds colour.

The order is: findings (errors first), unknown, skipped and passed checks, notes, the verdict. A finding is one paragraph;
with -v it is a block. Prose is wrapped. Locations, commands and settings of a block are not, because users paste them.
"""

import dataclasses
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from skyrl_doctor.core.model import CORRECT, UNKNOWN_VALUE, Finding, Location, Outcome, Remedy, Role, Severity, Status
from skyrl_doctor.core.record import record
from skyrl_doctor.report.model import Report
from skyrl_doctor.report.plain import plain
from skyrl_train.contracts.assignment import assignment

MARGIN = 9
"""Width of the label column at the left."""
_SAFE = " (safe: it changes nothing outside this job)"


@record
class Line:
    """One line. `style` colours the label on a terminal, or the text if there is no label.

    `page` is the address of the failure's page, to which the first word of the text, its id, links on a terminal.
    """

    text: str = ""
    label: str = ""
    style: str = ""
    page: str = ""

    def __str__(self) -> str:
        return f"{self.label:<{MARGIN}}{self.text}".rstrip() if self.text or self.label else ""


@record(kw_only=True)
class View:
    """How much of a report to print: -v, -q and --show-skips."""

    verbose: bool = False
    quiet: bool = False
    skips: bool = False
    blocks: bool = False
    """Each finding in full, also without -v."""


USUAL_VIEW = View()


def lines(report: Report, width: int, view: View = USUAL_VIEW) -> Iterator[Line]:
    """The lines of the report, wrapped to `width` columns."""
    layout = Layout(width - MARGIN, view, report.pages)
    outcomes = report.outcomes
    found = list(layout.findings_of(outcomes))
    if view.quiet:
        yield from found[:-1]  # without the empty line at the end
        return
    sections = [
        layout.header(report),
        found[:-1],
        layout.by_reason(outcomes, Status.SKIP) if view.verbose or view.skips else [],
        layout.passed(outcomes) if view.verbose else [],
        [line for note in report.notes for line in layout.prose(note, label="NOTE", style="note")],
        layout.more(found_ids(outcomes)),
    ]
    for section in sections:
        if section:
            yield from section
            yield Line()
    yield from layout.verdict(report)


def rank_findings(outcomes: Iterable[Outcome]) -> list[tuple[Outcome, Finding]]:
    """The findings that are not waived: errors, then warnings, then infos; each in the order of the outcomes."""
    found = [
        (outcome, finding) for outcome in outcomes if outcome.status is Status.FAIL for finding in outcome.findings
    ]
    return sorted(found, key=lambda pair: -pair[1].severity)


def found_ids(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """The ids of the checks with findings that are not waived, each once, the most severe first."""
    return tuple(dict.fromkeys(outcome.id for outcome, _ in rank_findings(outcomes)))


def counts(outcomes: Sequence[Outcome]) -> str:
    """`50 passed, 2 errors, 1 warning, 41 skipped, 1 unknown`, without zeros.

    Errors, warnings and infos are findings, each counted once; the others are checks.
    """
    number = Counter(finding.severity for _, finding in rank_findings(outcomes))
    status = Counter(outcome.status for outcome in outcomes)
    parts = [(status[Status.PASS], "passed")]
    parts += [
        (number[severity], severity.word if number[severity] == 1 else f"{severity.word}s")
        for severity in sorted(Severity, reverse=True)
    ]
    waived = sum(outcome.status is Status.SKIP and bool(outcome.findings) for outcome in outcomes)
    parts += [(status[Status.SKIP] - waived, "skipped"), (waived, "waived"), (status[Status.UNKNOWN], "unknown")]
    return ", ".join(f"{count} {word}" for count, word in parts if count) or "no checks"


def finding_text(finding: Finding) -> str:
    """A finding as unwrapped lines, for formats with a frame of their own."""
    return "\n".join(line.text for line in Layout(None, View(verbose=True), {}).finding(finding))


class Layout:
    """Lays out the parts of a report in a text column; with `columns` None nothing is wrapped."""

    def __init__(self, columns: int | None, view: View, pages: Mapping[str, str]) -> None:
        self._columns = columns
        self.view = view
        self._pages = pages

    def header(self, report: Report) -> list[Line]:
        target = f"target {' '.join(report.printed_targets)}" if report.printed_targets else "no target"
        role = "any" if len(report.roles) == len(Role) else "+".join(report.roles)
        return self.prose(f"{report.version}, host {report.host}, role {role}, {target}", label="doctor:")

    def findings_of(self, outcomes: Sequence[Outcome]) -> Iterator[Line]:
        """The findings and the unknown checks: a paragraph or, with -v, a block for each."""
        in_full = self.view.verbose or self.view.blocks
        one = self.finding_block if in_full else self.finding_line
        sections = [one(outcome, finding) for outcome, finding in rank_findings(outcomes)]
        unknown = self.by_reason(outcomes, Status.UNKNOWN)
        if not in_full:
            sections = [[line for section in (*sections, unknown) for line in section]]
        else:
            sections.append(unknown)
        for section in sections:
            if section:
                yield from section
                yield Line()

    def finding_line(self, outcome: Outcome, finding: Finding) -> list[Line]:
        """Where, what is found and expected, and a short fix, in one paragraph."""
        word = finding.severity.word
        place = f"{location_text(dataclasses.replace(finding.location, key=None))}: " if finding.location else ""
        fix = short_fix(finding.remedy)
        note = f" ({outcome.reason})" if outcome.reason else ""
        text = f"{outcome.id} {place}{finding.message}{note}{f'; fix: {fix}' if fix else ''}"
        first, *rest = self.prose(" ".join(text.split()), label=word.upper(), style=word)
        return [dataclasses.replace(first, page=self._pages.get(outcome.id, "")), *rest]

    def finding_block(self, outcome: Outcome, finding: Finding) -> list[Line]:
        word = finding.severity.word
        page = self._pages.get(outcome.id)
        return [
            Line(f"{outcome.id} {outcome.slug}", word.upper(), word, page or ""),
            *self.finding(finding),
            *(self.prose(outcome.reason, lead="note: ") if outcome.reason else ()),
            *([Line(f"page: {page}", style="place")] if page else ()),
        ]

    def more(self, ids: Sequence[str], *, in_full: str = "each finding with its fix in full") -> list[Line]:
        """How to learn more about the findings. `in_full` is what -v prints."""
        if not ids:
            return []
        pages = f"skyrl-doctor explain {ids[0]}"
        if self.view.verbose or self.view.blocks:
            return [Line(f"skyrl-doctor explain {id_}", "MORE", "note") for id_ in ids]
        return self.prose(f"-v prints {in_full}; `{pages}` explains one", label="MORE", style="note")

    def finding(self, finding: Finding) -> list[Line]:
        return [
            *self.prose(finding.message),
            *([Line(f"at:   {location_text(finding.location)}", style="place")] if finding.location else ()),
            *(line for text in finding.evidence for line in self.prose(text, lead="note: ")),
            *(self._remedy(finding.remedy) if finding.remedy else ()),
        ]

    def _remedy(self, remedy: Remedy) -> Iterator[Line]:
        if remedy.summary != CORRECT or remedy.settings or remedy.moves or remedy.commands:
            yield from self.prose(f"{remedy.summary}{_SAFE if remedy.safe else ''}", lead="fix:  ")
        for command in remedy.commands:
            first, *rest = plain(command).split("\n")
            yield Line(f"      {prompt(command)}{first}", style="command")
            yield from (Line(f"        {more}", style="command") for more in rest)
        for name, new in remedy.moves.items():
            yield Line(f"      {plain(name)} -> {plain(new)}", style="command")
        for name, value in remedy.settings.items():
            if not any(f"{name}={value}" in command for command in remedy.commands):  # not twice
                yield Line(f"      {plain(assignment(name, value))}", style="command")

    def by_reason(self, outcomes: Iterable[Outcome], status: Status) -> list[Line]:
        """The outcomes of one status; those with the same reason share a paragraph."""
        groups: dict[str, list[Outcome]] = {}
        for outcome in outcomes:
            if outcome.status is status:
                groups.setdefault(outcome.reason, []).append(outcome)
        return [line for reason, group in groups.items() for line in self._group(reason, group, status)]

    def _group(self, reason: str, group: list[Outcome], status: Status) -> Iterator[Line]:
        names = f"{group[0].id} {group[0].slug}" if len(group) == 1 else " ".join(outcome.id for outcome in group)
        yield from self.prose(f"{names}: {reason}", label=status.upper(), style=status.value)
        for outcome in group:  # only a waived outcome has findings here
            for finding in outcome.findings:
                yield from self.prose(f"{finding.severity.word}: {finding.message}", lead="  ")

    def passed(self, outcomes: Iterable[Outcome]) -> list[Line]:
        ids = " ".join(outcome.id for outcome in outcomes if outcome.status is Status.PASS)
        return self.prose(ids, label="PASS", style="pass") if ids else []

    def verdict(self, report: Report) -> list[Line]:
        strict = "" if report.fail_on is Severity.ERROR else f"; --fail-on {report.fail_on.word}"
        skipped = [one for one in report.outcomes if one.status is Status.SKIP and not one.findings]
        others = counts([one for one in report.outcomes if one not in skipped])
        undecided = [one for one in skipped if one.undecided]
        skipped = [one for one in skipped if not one.undecided]
        does = "does" if len(skipped) == 1 else "do"
        option = "" if self.view.verbose or self.view.skips else ", see -v"
        more = f"; {len(skipped)} {does} not apply here{option}" if skipped else ""
        left_out = f"; {report.left_out}" if report.left_out else ""
        return self.prose(
            f"{report.verdict} ({others}{_undecided(undecided)}{more}{strict}{left_out}) in {report.duration_s:.2f}s",
            label="verdict:",
            style=report.verdict,
        )

    def prose(self, text: str, *, label: str = "", lead: str = "", style: str = "") -> list[Line]:
        """Wrapped text. The first line has the label and the lead; the other lines are indented below it."""
        texts = [line for part in plain(text).split("\n") for line in self._wrap(part, len(lead))]
        indent = " " * len(lead)
        return [
            Line((indent if at else lead) + line, "" if at else label, "" if at and label else style)
            for at, line in enumerate(texts)
        ]

    def _wrap(self, text: str, indent: int) -> list[str]:
        if self._columns is None:
            return [text]
        columns = max(self._columns - indent, 20)
        # Users paste paths, URLs and ids, so long words are never cut.
        return textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False) or [""]


def _undecided(outcomes: Iterable[Outcome]) -> str:
    """The checks that would apply and could not decide, each with what it lacks."""
    by_lack: dict[str, list[str]] = {}
    for one in outcomes:
        by_lack.setdefault(one.undecided, []).append(one.id)
    return "".join(f"; {' '.join(ids)} could not decide: {lack}" for lack, ids in by_lack.items())


def short_fix(remedy: Remedy | None) -> str:
    """The remedy in a few words: its settings, its only command, or what it says to do."""
    if remedy is None:
        return ""
    changes = [assignment(name, value) for name, value in remedy.settings.items()]
    changes += [f"rename {name} to {new}" for name, new in remedy.moves.items()]
    if changes and not remedy.commands:
        return ", ".join(changes)
    if len(remedy.commands) == 1 and "\n" not in remedy.commands[0]:
        return f"`{remedy.commands[0]}`"
    if any(f"`{command}`" not in remedy.summary for command in remedy.commands):
        return f"{remedy.summary} (-v prints the commands)"
    return "" if remedy.summary in (CORRECT, UNKNOWN_VALUE) else remedy.summary


def prompt(command: str) -> str:
    """What stands before a command that is to be typed; nothing before a line for a script, such as #SBATCH."""
    return "" if command.startswith("#") else "$ "


def location_text(location: Location) -> str:
    """`file:line (key)`, without the parts that are not known."""
    line = "" if location.line is None else f":{location.line}"
    key = f" ({location.key})" if location.key else ""
    return plain(f"{location.file}{line}{key}").replace("\n", "\\n")
