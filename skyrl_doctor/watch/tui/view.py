"""The texts of the live view: activity, figures, memory, findings. They work without colour."""

from collections.abc import Iterator, Sequence

from skyrl_doctor.report.plain import plain
from skyrl_doctor.watch.finding import Alert
from skyrl_doctor.watch.loop import Watch
from skyrl_doctor.watch.rules.base import duration
from skyrl_doctor.watch.rules.progress import patience_s
from skyrl_doctor.watch.sink.screen import step_text
from skyrl_train.contracts.assignment import assignment

BAR = 20
MOST_FILLS = 4


def status(watch: Watch, now: float) -> Iterator[str]:
    """The state of the run, its last step, its progress bars, and what fills up."""
    yield _activity(watch, now)
    yield step_text(watch.last_step) if watch.last_step is not None else "no step yet"
    for label, (done, total) in list(watch.progress.bars.items())[-2:]:
        yield f"{plain(label)[:28] or 'progress':<28} {bar(done, total)} {done} of {total}"
    for name, (used, limit) in list(watch.fills.items())[:MOST_FILLS]:
        yield f"{plain(name)[-28:]:<28} {bar(used, limit)} {used:.1f} of {limit:.1f}"


def _activity(watch: Watch, now: float) -> str:
    progress = watch.progress
    still = now - progress.at if progress.at is not None else 0.0
    patience = patience_s(progress)
    state = "ended: " + watch.over if watch.over else ("no progress" if still > patience / 2 else "running")
    alarm = f"stall alarm after {duration(patience)}"
    return f"{state} · last activity: {plain(progress.what)}, {duration(still)} ago ({alarm})"


def sorted_findings(watch: Watch) -> list[Alert]:
    """The open findings, root causes first."""
    return sorted(watch.open.values(), key=lambda one: (not one.root, -one.finding.severity, one.at, one.key))


def row(one: Alert, now: float) -> tuple[str, str, str, str]:
    """Severity, name, age and message of a finding."""
    word = "ROOT" if one.root else one.finding.severity.word
    return (word, f"{one.id} {one.slug}", duration(max(0.0, now - one.at)), _line(one.finding.message))


def detail(one: Alert) -> str:
    """All of a finding: message, place, evidence, remedy."""
    finding = one.finding
    where = f"\n\nAt {finding.location.file}:{finding.location.line}" if finding.location else ""
    evidence = "".join(f"\n  {_line(line)}" for line in finding.evidence)
    remedy = finding.remedy
    settings = "".join(f"\n  {assignment(key, value)}" for key, value in remedy.settings.items()) if remedy else ""
    commands = "".join(f"\n  {command}" for command in remedy.commands) if remedy else ""
    return plain(
        f"{one.id} {one.slug} ({'root cause' if one.root else finding.severity.word})\n\n{finding.message}{where}"
        + (f"\n\nEvidence:{evidence}" if evidence else "")
        + (f"\n\nTo do: {remedy.summary}{settings}{commands}" if remedy else "")
        + f"\n\nMore: skyrl-doctor explain {one.id}"
    )


def caption(name: str, values: Sequence[float]) -> str:
    """`reward  0.31  (0.1 to 0.8)`."""
    if not values:
        return f"{name}  –"
    return f"{name}  {values[-1]:.4g}  ({min(values):.3g} to {max(values):.3g})"


def bar(done: float, total: float) -> str:
    """[#####...............]"""
    filled = round(BAR * min(1.0, max(0.0, done / total))) if total > 0 else 0
    return f"[{'#' * filled}{'.' * (BAR - filled)}]"


def _line(text: str) -> str:
    return " ".join(plain(text).split())
