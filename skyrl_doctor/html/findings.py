"""The sections about causes and findings."""

from collections.abc import Iterator, Sequence

from skyrl_doctor.core.model import Finding, Outcome, Status
from skyrl_doctor.html.cause import Cause, Place
from skyrl_doctor.html.markup import Html, join, prose, tag
from skyrl_doctor.html.parts import badge, facts, folded, plural, table
from skyrl_doctor.html.subject import Examined
from skyrl_doctor.report.lines import counts, location_text, rank_findings
from skyrl_doctor.watch.past_steps import StepFault
from skyrl_train.contracts.assignment import assignment


def cause_section(cause: Cause) -> Html:
    """The cause, the lines of the log around it, what to do, and what followed from it."""
    parts = [] if cause.headline else [tag("p", _nothing(cause))]
    parts += [tag("p", "The line is ", tag("code", cause.place))] if cause.place else []
    if cause.quoted:
        lines = [
            tag("tr", tag("td", str(number), class_="n"), tag("td", tag("code", text)), class_=_mark(number, cause))
            for number, text in cause.quoted
        ]
        quotation = tag("table", tag("caption", "The log around the line"), tag("tbody", lines), class_="code")
        parts.append(tag("div", quotation, class_="scroll", tabindex="0", role="region", aria_label="The log"))
    parts += [tag("p", prose(text)) for text in cause.notes]
    if cause.configured:
        parts += [
            tag("h3", "In your configuration"),
            tag("ul", [tag("li", tag("code", one)) for one in cause.configured]),
        ]
    if cause.remedy:
        parts += [tag("h3", "What to do"), *(tag("p", prose(part)) for part in cause.remedy.split("\n\n"))]
    if cause.id:
        parts.append(tag("p", "More: ", tag("code", f"skyrl-doctor explain {cause.id}")))
    parts += _listed("Consequences, not the cause", cause.consequences)
    others = (
        "Other possible causes, later or less certain" if cause.known else "Other errors that no known failure matches"
    )
    parts += _listed(others, cause.others)
    parts += _listed("The run continued after these", cause.survived)
    return join(parts)


def step_faults_section(faults: Sequence[StepFault]) -> Html:
    """The faults in the figures of the steps, each with its place and what to do."""
    return join([part for fault in faults for part in _step_fault(fault)])


def _step_fault(fault: StepFault) -> Iterator[Html]:
    style = "fail" if fault.is_error else "warning"
    yield tag("h3", badge("error" if fault.is_error else "warning", style), f" {fault.id} {fault.slug}")
    yield tag("p", tag("code", fault.place), ": ", prose(fault.message))
    if fault.advice:
        yield tag("p", "What to do: ", prose(fault.advice))


def _nothing(cause: Cause) -> str:
    return (
        "The run completed: no failure was found in the logs."
        if cause.completed
        else "No known failure matches a line of the logs."
        if cause.place
        else "No line of the logs shows a failure."
    )


def _mark(number: int, cause: Cause) -> str | None:
    return "mark" if number == cause.number else None


def _listed(title: str, places: Sequence[Place]) -> Iterator[Html]:
    if places:
        yield tag("h3", title)
        yield tag("ul", [tag("li", _place(one)) for one in places])


def _place(one: Place) -> Html:
    text = f": {one.text}" if one.text else ""
    return join(tag("b", one.name), ", ", tag("code", one.place), text)


def findings_section(examined: Examined, linked: dict[str, str]) -> Html:
    """The findings, errors first, then what could not be checked. `linked` maps a file to the id of its table here."""
    found = [_finding(outcome, finding, linked) for outcome, finding in rank_findings(examined.outcomes)]
    unknown = [one for one in examined.outcomes if one.status is Status.UNKNOWN]
    return join(
        tag("p", badge(examined.verdict, examined.verdict), f" {counts(examined.outcomes)}"),
        facts(examined.facts),
        [tag("p", note) for note in examined.notes],
        found or tag("p", "No finding."),
        _by_status("Unknown: these checks could not run", unknown, opened=True),
        _by_status("Skipped", [one for one in examined.outcomes if one.status is Status.SKIP]),
        _by_status("Passed", [one for one in examined.outcomes if one.status is Status.PASS]),
    )


def _by_status(title: str, outcomes: Sequence[Outcome], *, opened: bool = False) -> Html | None:
    if not outcomes:
        return None
    rows = [(tag("code", one.id), one.slug, one.reason) for one in outcomes]
    shown = table(f"{title}: {plural(len(rows), 'check')}", ("id", "check", "reason"), rows)
    return shown if opened else folded(f"{title}: {plural(len(rows), 'check')}", shown)


def _finding(outcome: Outcome, finding: Finding, linked: dict[str, str]) -> Html:
    word, remedy, place = finding.severity.word, finding.remedy, finding.location
    where = location_text(place) if place else ""
    prefix = linked.get(place.file.rpartition("/")[2]) if place else None
    target = f"#{prefix}-{place.line}" if place and prefix and place.line else None
    return tag(
        "article",
        tag("h3", badge(word, word), " ", outcome.id, " ", outcome.slug),
        tag("p", finding.message),
        tag("p", "at ", tag("a", where, href=target) if target else tag("code", where)) if where else None,
        tag("ul", [tag("li", text) for text in finding.evidence]) if finding.evidence else None,
        tag("p", tag("b", "Fix: "), prose(remedy.summary)) if remedy else None,
        [tag("pre", command, tabindex="0") for command in (remedy.commands if remedy else ())],
        [
            tag("pre", assignment(name, value), tabindex="0")
            for name, value in (remedy.settings if remedy else {}).items()
        ],
        [tag("pre", f"{old} -> {new}", tabindex="0") for old, new in (remedy.moves if remedy else {}).items()],
        tag("p", f"Note: {outcome.reason}") if outcome.reason else None,
        class_=f"finding {word}",
    )
