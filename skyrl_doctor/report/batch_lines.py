"""Lays out the report of several runs. A finding that several runs have is printed once, with its places.

With -v each run has a report of its own.
"""

import dataclasses
import re
from collections.abc import Iterator, Sequence

from skyrl_doctor.core.model import Finding, Outcome, Status
from skyrl_doctor.core.record import record
from skyrl_doctor.report.lines import (
    MARGIN,
    USUAL_VIEW,
    Layout,
    Line,
    View,
    found_ids,
    location_text,
    rank_findings,
    short_fix,
)
from skyrl_doctor.report.model import Batch, Report

MOST = 8
"""Places or runs that one list names."""
_IN_LINE = re.compile(r" in line \d+")


@record
class Group:
    """One finding, and where it was found. Without places every run has it: it is about the machine."""

    outcome: Outcome
    finding: Finding
    places: tuple[str, ...]


def batch_lines(batch: Batch, width: int, view: View = USUAL_VIEW) -> Iterator[Line]:
    """The findings of all runs, the targets that were refused, and the runs that did not pass."""
    pages = {id_: url for report in batch.reports for id_, url in report.pages.items()}
    layout = Layout(width - MARGIN, view, pages)
    if batch.reports and not view.quiet:
        several = dataclasses.replace(batch.reports[0], target_names=(f"{len(batch.reports)} runs",))
        yield from layout.header(several)
        yield Line()
    if view.verbose:
        for report in batch.reports:
            yield from _run_lines(report, layout)
    else:
        yield from _grouped(batch.reports, layout)
    for refusal in batch.refused:
        yield from layout.prose(refusal.reason, label="REFUSED", style="error")
    if view.quiet:
        return
    ids = tuple(dict.fromkeys(id_ for report in batch.reports for id_ in found_ids(report.outcomes)))
    yield from layout.more(ids, in_full="the findings of each run in full")
    if not view.verbose:
        yield from _failing(batch, layout)
    yield from layout.prose(f"{batch.verdict} ({batch.summary})", label="verdict:", style=batch.verdict)


def _run_lines(report: Report, layout: Layout) -> Iterator[Line]:
    """The report of one of several runs."""
    found = list(layout.findings_of(report.outcomes))
    if layout.view.quiet and not found:
        return
    yield from layout.prose(_name(report), label="run:", style="note")
    yield Line()
    yield from found
    if not layout.view.quiet:
        yield from _notes(report.notes, layout)
        yield from layout.verdict(report)
        yield Line()


def _grouped(reports: Sequence[Report], layout: Layout) -> Iterator[Line]:
    """Each finding once, then the unknown checks, then the notes."""
    found = [
        *(line for group in group_findings(reports) for line in _finding_lines(group, layout)),
        *_unknown_lines(reports, layout),
    ]
    if found:
        yield from found
        yield Line()
    if not layout.view.quiet:
        notes = list(_notes(dict.fromkeys(note for report in reports for note in report.notes), layout))
        if notes:
            yield from notes
            yield Line()


def group_findings(reports: Sequence[Report]) -> list[Group]:
    """The findings that are equal but for their file and lines, the most severe first, then the most frequent."""
    groups: dict[tuple[object, ...], list[tuple[Report, Outcome, Finding]]] = {}
    for report in reports:
        for outcome, finding in rank_findings(report.outcomes):
            key = finding.location.key if finding.location else None
            message = _IN_LINE.sub("", finding.message)
            same = (outcome.id, finding.severity, key, message, outcome.reason, short_fix(finding.remedy))
            groups.setdefault(same, []).append((report, outcome, finding))
    made = [Group(some[0][1], some[0][2], _places(some, reports)) for some in groups.values()]
    return sorted(made, key=lambda group: (-group.finding.severity, -len(group.places)))


def _places(some: Sequence[tuple[Report, Outcome, Finding]], reports: Sequence[Report]) -> tuple[str, ...]:
    everywhere = len({id(report) for report, _, _ in some}) == len(reports)
    if everywhere and all(finding.location is None for _, _, finding in some):
        return ()
    named = (_place(finding) or _name(report) for report, _, finding in some)
    return tuple(dict.fromkeys(named))


def _finding_lines(group: Group, layout: Layout) -> list[Line]:
    if (len(group.places) == 1 and group.finding.location is not None) or not group.places:
        return layout.finding_line(group.outcome, group.finding)
    message = _IN_LINE.sub("", group.finding.message)
    anywhere = dataclasses.replace(group.finding, location=None, message=message)
    return [*layout.finding_line(group.outcome, anywhere), *_listed(group.places, "place", layout)]


def _unknown_lines(reports: Sequence[Report], layout: Layout) -> Iterator[Line]:
    """The unknown checks with the same reason share a paragraph."""
    groups: dict[tuple[str, str, str], list[Report]] = {}
    for report in reports:
        for outcome in report.outcomes:
            if outcome.status is Status.UNKNOWN:
                groups.setdefault((outcome.id, outcome.slug, outcome.reason), []).append(report)
    by_reason: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (id_, slug, reason), some in groups.items():
        names = () if len(some) == len(reports) else tuple(_name(report) for report in some)
        by_reason.setdefault((reason, names), []).append(f"{id_} {slug}")
    for (reason, names), checks in by_reason.items():
        ids = checks[0] if len(checks) == 1 else " ".join(check.partition(" ")[0] for check in checks)
        yield from layout.prose(f"{ids}: {reason}", label="UNKNOWN", style="unknown")
        yield from _listed(names, "run", layout)


def _failing(batch: Batch, layout: Layout) -> Iterator[Line]:
    """The runs that did not pass, by their verdict."""
    for verdict in ("fail", "unknown"):
        names = [_name(report) for report in batch.reports if report.verdict == verdict]
        if names:
            yield from layout.prose(_list(names), label=f"{verdict}:", style=verdict)


def _listed(names: Sequence[str], what: str, layout: Layout) -> list[Line]:
    if not names:
        return []
    count = f"{len(names)} {what}{'' if len(names) == 1 else 's'}"
    return layout.prose(f"{count}: {_list(names)}", lead="  in ")


def _list(names: Sequence[str]) -> str:
    more = len(names) - MOST
    return f"{' '.join(names[:MOST])} and {more} more" if more > 0 else " ".join(names)


def _notes(notes: Sequence[str] | dict[str, None], layout: Layout) -> Iterator[Line]:
    for note in notes:
        yield from layout.prose(note, label="NOTE", style="note")


def _place(finding: Finding) -> str:
    return location_text(dataclasses.replace(finding.location, key=None)) if finding.location else ""


def _name(report: Report) -> str:
    return " ".join(report.printed_targets)
