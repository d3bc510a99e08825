"""GitHub workflow commands: an annotation for each finding and for each unknown check.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from collections.abc import Iterator

from skyrl_doctor.core.model import Finding, Location, Outcome, Severity, Status
from skyrl_doctor.report.lines import counts, finding_text, rank_findings
from skyrl_doctor.report.model import Batch, Report
from skyrl_doctor.report.plain import plain

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report) -> str:
    return "".join(f"{line}\n" for line in _lines(report))


def render_batch(batch: Batch) -> str:
    """Several runs. What is the same in all of them is annotated once."""
    made = [line for report in batch.reports for line in _lines(report)]
    made += [
        command("error", refusal.reason, title="refused", location=Location(refusal.target))
        for refusal in batch.refused
    ]
    verdicts = [line for line in made if not line.startswith("::")]
    once = dict.fromkeys(line for line in made if line.startswith("::"))
    total = f"skyrl-doctor: {batch.verdict} ({batch.summary})"
    named = [
        f"{' '.join(report.printed_targets)}: {line}" for report, line in zip(batch.reports, verdicts, strict=True)
    ]
    return "".join(f"{line}\n" for line in (*once, *named, total))


def _lines(report: Report) -> Iterator[str]:
    for outcome, finding in rank_findings(report.outcomes):
        yield _annotation(outcome, finding)
    for outcome in report.outcomes:
        if outcome.status is Status.UNKNOWN:
            yield command("warning", f"unknown: {outcome.reason}", title=_title(outcome))
    for note in report.notes:
        yield command("notice", note, title="skyrl-doctor")
    yield f"skyrl-doctor: {report.verdict} ({counts(report.outcomes)})"


def command(name: str, message: str, *, title: str, location: Location | None = None) -> str:
    """`::name file=…,line=…,title=…::message`, escaped so that the message cannot end the command."""
    properties = {"title": title}
    if location is not None:
        line = {} if location.line is None else {"line": str(location.line)}
        properties = {"file": location.file, **line, "title": title}
    attributes = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {attributes}::{_data(message)}"


def _annotation(outcome: Outcome, finding: Finding) -> str:
    return command(_COMMANDS[finding.severity], finding_text(finding), title=_title(outcome), location=finding.location)


def _title(outcome: Outcome) -> str:
    return f"{outcome.id} {outcome.slug}"


def _data(text: str) -> str:
    return plain(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
