"""Puts the sections of a report together into one HTML page.

The page has no script and asks for nothing: its policy forbids both, so that no text of a log can do either.
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from importlib.resources import files

from skyrl_doctor.html.cause import NOTHING, Cause
from skyrl_doctor.html.findings import cause_section, findings_section, step_faults_section
from skyrl_doctor.html.markup import Html, join, prose, tag
from skyrl_doctor.html.parts import Section, badge, facts, folded, plural
from skyrl_doctor.html.subject import Examined, Subject
from skyrl_doctor.html.timeline import UNKNOWN, cost, timeline_section
from skyrl_doctor.html.training import rollouts_section, steps_section
from skyrl_doctor.watch.past_steps import StepFault

MOST_LINES = 2000


def render(subject: Subject, *, made: str) -> str:
    """The page. `made` says by which doctor and when."""
    style = files("skyrl_doctor.html").joinpath("report.css").read_text(encoding="utf-8")
    title = f"{subject.name}: {subject.kind} report"
    sections = [one for one in _sections(subject) if one.content]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("style", Html(style)),
    )
    body = tag(
        "body",
        tag("a", "Skip to the content", class_="skip", href="#content"),
        _header(subject),
        tag("nav", tag("ul", [_link(one) for one in sections]), aria_label="Sections"),
        tag("main", [_section(one) for one in sections], id="content"),
        tag("footer", tag("p", made)),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _policy(style: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _header(subject: Subject) -> Html:
    word, style, sentence = verdict(subject)
    return tag(
        "header",
        tag("p", f"skyrl-doctor report of a {subject.kind}", class_="kind"),
        tag("h1", subject.name),
        tag("p", badge(word, style), " ", prose(sentence), class_="verdict"),
        _figures(subject),
    )


def _figures(subject: Subject) -> Html | None:
    """The size of the job in one line."""
    if subject.job is None:
        return None
    known = [f"{name} {value}" for name, value in cost(subject.job) if value not in (UNKNOWN, "0")]
    return tag("p", " · ".join(known), class_="kind") if known else None


def verdict(subject: Subject) -> tuple[str, str, str]:
    """A word, its style, and a sentence: the cause counts most, then the findings of the checks."""
    cause = subject.cause
    if cause is not None and cause.headline:
        return "failed", "fail", cause.headline if cause.known else f"{cause.headline} {cause.place}"
    verdicts = [one.verdict for one in subject.examined]
    if "fail" in verdicts:
        errors = sum(
            finding.severity.word == "error"
            for one in subject.examined
            for outcome in one.outcomes
            if outcome.status.value == "fail"
            for finding in outcome.findings
        )
        return "fail", "fail", f"{plural(errors, 'error')} in {plural(len(verdicts), 'examination')}."
    if subject.faults:
        return _verdict_of_steps(subject.faults, completed=cause is not None and cause.completed)
    if cause is not None and cause.completed:
        return "completed", "pass", "The run completed. No failure was found in its logs."
    if "unknown" in verdicts:
        every = (outcome for one in subject.examined for outcome in one.outcomes)
        ids = dict.fromkeys(outcome.id for outcome in every if outcome.status.value == "unknown")
        return "unknown", "unknown", f"{plural(len(ids), 'check')} could not run: {', '.join(ids)}."
    if verdicts:
        return "pass", "pass", "No error was found."
    return "no failure found", "unknown", cause.nothing if cause is not None else NOTHING


def _verdict_of_steps(faults: Sequence[StepFault], *, completed: bool) -> tuple[str, str, str]:
    worst = faults[0]
    if worst.is_error:
        return "failed", "fail", f"{worst.id} {worst.slug}: {worst.message}"
    ids = ", ".join(dict.fromkeys(fault.id for fault in faults))
    shown = "The run completed, but its steps show" if completed else "The steps show"
    return "warning", "warning", f"{shown} {plural(len(faults), 'fault')}: {ids}."


def _sections(subject: Subject) -> Iterator[Section]:
    job = subject.job
    linked = {name: f"config-{number}" for number, (name, _) in enumerate(job.configs if job else ())}
    if subject.cause is not None:
        yield Section("cause", "Cause and consequences", cause_section(subject.cause))
    if subject.faults:
        yield Section("step-faults", "Faults of the training steps", step_faults_section(subject.faults))
    for number, one in enumerate(subject.examined):
        yield Section(f"findings-{number}", f"Findings: {one.title}", findings_section(one, linked))
    if job is not None:
        yield Section("timeline", "Timeline", timeline_section(job, subject.faults, _failure(subject.cause)))
    if subject.steps:
        yield Section("steps", "Training steps", steps_section(subject.steps, job.gpus if job else None))
    if job is None:
        return
    if job.rollouts:
        yield Section("rollouts", "Rollouts", rollouts_section(job.rollouts))
    if job.configs:
        places = _places(subject)
        tables = [_config(name, text, linked[name], places.get(name, {})) for name, text in job.configs]
        yield Section("configuration", "Configuration", join(tables))
    if job.environment:
        yield Section("environment", "Environment", facts(job.environment))
    if job.notes:
        yield Section("notes", "Not read", tag("ul", [tag("li", note) for note in job.notes]))


def _failure(cause: Cause | None) -> str:
    """The id of what ended the run; empty where nothing did."""
    return (cause.id or "an unknown error") if cause is not None and cause.headline else ""


def _places(subject: Subject) -> dict[str, dict[int, str]]:
    """The ids of the findings by file name and line."""
    found: dict[str, dict[int, str]] = {}
    for one in subject.examined:
        for id_, line, file in _located(one):
            lines = found.setdefault(file.rpartition("/")[2], {})
            if id_ not in lines.get(line, "").split():
                lines[line] = f"{lines.get(line, '')} {id_}".strip()
    return found


def _located(one: Examined) -> Iterator[tuple[str, int, str]]:
    for outcome in one.outcomes:
        for finding in outcome.findings:
            if outcome.status.value == "fail" and finding.location and finding.location.line:
                yield outcome.id, finding.location.line, finding.location.file


def _config(name: str, text: str, prefix: str, places: dict[int, str]) -> Html:
    """The numbered lines of a file; those with a finding name it."""
    lines = text.splitlines()
    rows = [
        tag(
            "tr",
            tag("td", str(number), class_="n"),
            tag("td", tag("code", line)),
            tag("td", places.get(number, "")),
            id=f"{prefix}-{number}",
            class_="mark" if number in places else None,
        )
        for number, line in enumerate(lines[:MOST_LINES], start=1)
    ]
    more = tag("p", f"{len(lines) - MOST_LINES} more lines") if len(lines) > MOST_LINES else None
    shown = tag("table", tag("caption", name), tag("tbody", rows), class_="code")
    scroll = tag("div", shown, class_="scroll", tabindex="0", role="region", aria_label=name)
    return join(scroll, more) if places else folded(name, scroll, more)


def _section(one: Section) -> Html:
    return tag(
        "section", tag("h2", one.title, id=f"{one.id}-title"), one.content, id=one.id, aria_labelledby=f"{one.id}-title"
    )


def _link(one: Section) -> Html:
    return tag("li", tag("a", one.title, href=f"#{one.id}"))
