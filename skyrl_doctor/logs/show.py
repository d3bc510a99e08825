"""Renders a diagnosis as text and as JSON data. Quoted lines have no secrets and no control characters."""

import itertools
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.cause.root_cause import Diagnosis
from skyrl_doctor.logs.cause.runs import EarlierRun
from skyrl_doctor.logs.cause.stopped import Stopped
from skyrl_doctor.logs.judge.clusters import Cluster
from skyrl_doctor.logs.judge.frames import short_place
from skyrl_doctor.logs.judge.hits import Hit
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.judge.raised import Raised, search_text
from skyrl_doctor.logs.read.levels import parse_header
from skyrl_doctor.logs.sentences import explain, explain_consequence, remedy
from skyrl_doctor.logs.surroundings import ALL, OURS, fit, shown_parts
from skyrl_doctor.page import parse, wrap_markdown
from skyrl_doctor.report.path_words import shortened
from skyrl_doctor.report.plain import encodable, plain

WIDTH = 80
SURVIVED = "The run ended well. This line looks like an error, and the run survived it:"
MAX_LISTED = 12
"""Entries of one list."""
_JOB = re.compile(r"(?<=-j )JOB\b")
"""The place of the job's number in a command of Slurm."""
Redact = Callable[[str], str]


def data(diagnosis: Diagnosis, redact: Redact) -> dict[str, Any]:
    """The diagnosis as data for the JSON report."""
    root, unknown = diagnosis.root, diagnosis.unknown
    return {
        "schema": 1,
        "root": None
        if root is None
        else {
            **_name(root),
            **_location(root.line),
            "text": _clean(root.line.text, redact),
            **({"probable": True} if root.failure.is_probable else {}),
            "explain": _clean(explain(root, diagnosis.dialect), redact),
            **({"remedy": _clean(own, redact)} if (own := own_remedy(root, diagnosis)) else {}),
        },
        "matches": [
            {**_name(hit), "role": str(hit.failure.signature.role), **_location(hit.line)} for hit in diagnosis.matches
        ],
        "unknown": None if unknown is None else _unknown_data(unknown, diagnosis, redact),
        **_tolerated_data(diagnosis, redact),
        **_earlier_data(diagnosis),
    }


def _unknown_data(line: Line, diagnosis: Diagnosis, redact: Redact) -> dict[str, Any]:
    similar = diagnosis.cluster or Cluster(line.text, 1, line.number, line.number)
    return {
        **_location(line),
        "text": _clean(line.text, redact),
        **_raised_data(diagnosis.raised, redact),
        "cluster": _cluster_data(similar, redact),
        "others": [
            {"file": encodable(group.file), **_cluster_data(group.cluster, redact)} for group in diagnosis.groups
        ],
    }


def _raised_data(raised: Raised | None, redact: Redact) -> dict[str, str]:
    if raised is None:
        return {}
    clean = _redacted(raised, redact)
    return {
        "exception": clean.exception,
        "message": clean.message,
        "package": clean.package,
        "version": clean.version,
        "search": search_text(clean),
    }


def _redacted(raised: Raised, redact: Redact) -> Raised:
    parts = (raised.exception, raised.message, raised.package, raised.version, raised.place)
    return Raised(*(_clean(part, redact) for part in parts))


def _cluster_data(cluster: Cluster, redact: Redact) -> dict[str, Any]:
    return {
        "template": _clean(cluster.template, redact),
        "count": cluster.count,
        "first": cluster.first,
        "last": cluster.last,
    }


def _tolerated_data(diagnosis: Diagnosis, redact: Redact) -> dict[str, Any]:
    """The error line that ended nothing, where no other error was found."""
    line = diagnosis.tolerated
    if line is None or diagnosis.root or diagnosis.unknown:
        return {}
    lines = {"lines": diagnosis.errors} if diagnosis.errors else {}
    return {"tolerated": {**_location(line), "text": _clean(line.text, redact), **lines}}


def _earlier_data(diagnosis: Diagnosis) -> dict[str, Any]:
    """The earlier runs of files that hold several."""
    runs = [
        {
            "file": encodable(run.file),
            "first": run.first,
            "last": run.last,
            **({"root": {**_name(run.root), "line": run.root.line.number}} if run.root else {}),
            **({"unknown": {"line": run.unknown.number}} if run.unknown else {}),
        }
        for run in diagnosis.earlier
    ]
    return {"earlier": runs} if runs else {}


def _name(hit: Hit) -> dict[str, Any]:
    return {"id": hit.failure.id, "slug": hit.failure.slug}


def _location(line: Line) -> dict[str, Any]:
    return {"file": encodable(line.file), "line": line.number}


def _clean(text: str, redact: Redact) -> str:
    return plain(redact(text))


def text(
    diagnosis: Diagnosis,
    page: str,
    redact: Redact,
    files: int,
    configured: Sequence[str] = (),
    width: int = WIDTH,
    growth: str = "",
    faults: int = 0,
) -> Iterator[str]:
    """The lines of the text report.

    `page` is that of the root cause's failure, or empty; `files` the number of files that were read; `configured` what
    the run's configuration says of the failure, `growth` how the memory grew, and `faults` the number of findings in the
    figures of the steps, which are printed above.
    """
    yield from earlier_runs(diagnosis)
    if diagnosis.root is not None:
        yield from _root(diagnosis, diagnosis.root, page, redact, configured, width, growth)
    elif diagnosis.unknown is not None:
        yield from _unknown(diagnosis, diagnosis.unknown, redact, width)
    else:
        yield from _survived(diagnosis)
        yield _nothing_found(diagnosis, files, faults)
        if diagnosis.tolerated:
            yield (
                SURVIVED
                if diagnosis.done
                else "The first error line. It announces another try, or the run continued after it:"
            )
            yield from _quotation(diagnosis.tolerated, redact, width)
        if diagnosis.stopped:
            yield from _stopped(diagnosis.stopped, diagnosis.parts)
        if diagnosis.done:
            yield f"The run completed: {_position(diagnosis.done)}"


def _nothing_found(diagnosis: Diagnosis, files: int, faults: int) -> str:
    """What the lines of the logs show, where no failure explains them."""
    if not faults:
        found = "No known failure" if diagnosis.tolerated else "No known failure and no error"
        errors = diagnosis.errors or 0
        counted = f" {error_lines(errors)}" if errors > 1 else ""
        return f"{found} found in {files} {'file' if files == 1 else 'files'}.{counted}"
    lines = "No known failure matches a line" if diagnosis.tolerated else "No line shows an error"
    source = "finding above comes" if faults == 1 else f"{faults} findings above come"
    return f"{lines}. The {source} from the figures of the steps."


def error_lines(errors: int) -> str:
    """How many lines show an error, in a sentence."""
    return "1 line shows an error." if errors == 1 else f"{errors} lines show an error."


def stopped_at(stopped: Stopped) -> str:
    """Where a log without an end stops."""
    return f"{stopped_step(stopped)} without an error: {encodable(plain(stopped.file))}:{stopped.line}"


def stopped_step(stopped: Stopped) -> str:
    """The step at which a log without an end stops."""
    of = f" of {stopped.total}" if stopped.total is not None else ""
    return f"The log stops at step {stopped.step}{of}"


def _stopped(stopped: Stopped, parts: frozenset[str]) -> Iterator[str]:
    yield stopped_at(stopped)
    yield "The run may still be going. If it is not, something else ended it. Look here:"
    if stopped.slurm_id or "slurm" in parts:
        yield f"  $ sacct -j {stopped.slurm_id or 'JOBID'} --format=JobID,State,ExitCode,Elapsed,MaxRSS,NodeList"
    yield "  $ sudo dmesg -T | grep -iE 'killed process|out of memory|xid'    # on the node of the run"
    ray = ", logs of Ray's workers (/tmp/ray/session_latest/logs on the node)" if "ray" in parts else ""
    yield f"  the other logs of the run: .err next to .out{ray}"


def earlier_runs(diagnosis: Diagnosis) -> Iterator[str]:
    """Which runs of a file are not the one that is diagnosed, and how they ended."""
    for file, some in itertools.groupby(diagnosis.earlier, key=lambda run: run.file):
        runs = list(some)
        name = encodable(plain(file))
        yield f"{name} holds several runs. This is about the last one, from line {runs[-1].last + 1}."
        left = len(runs) - MAX_LISTED
        yield from (["Earlier runs:"] if left <= 0 else [f"The last {MAX_LISTED} of {len(runs)} earlier runs:"])
        yield from (f"  lines {run.first} to {run.last}: {_end(run)}" for run in runs[-MAX_LISTED:])
        yield ""


def _end(run: EarlierRun) -> str:
    if run.root is not None:
        return f"{run.root.failure.name} {run.root.failure.slug}, line {run.root.line.number}"
    return f"an unknown error, line {run.unknown.number}" if run.unknown else "no error"


def _unknown(diagnosis: Diagnosis, unknown: Line, redact: Redact, width: int) -> Iterator[str]:
    yield "No known failure matched. The first error:"
    yield from _quotation(unknown, redact, width)
    if diagnosis.raised:
        raised = _redacted(diagnosis.raised, redact)
        if raised.package:
            yield f"  raised by {' '.join(filter(None, (raised.package, raised.version)))}"
        if searched := search_text(raised):
            yield f"  search the web for: {searched}"
        elif raised.place:
            yield f"  This is your own code: look at {short_place(raised.place)}"
    similar = diagnosis.cluster
    if similar and similar.count > 1:
        template = "" if similar.template == unknown.text else f": {_clean(similar.template, redact)}"
        yield f"  {similar.count} similar lines in this file, from line {similar.first} to {similar.last}{template}"
    if diagnosis.groups:
        yield "Other errors that no known failure matches:"
        for group in diagnosis.groups:
            place = f"{encodable(plain(group.file))}:{group.cluster.first}"
            count = "1 x" if group.cluster.count == 1 else f"{group.cluster.count} lines like"
            yield f"  {count} {_clean(without_header(first_of(group.cluster)), redact)}, first at {place}"
    yield from _consequences(diagnosis, redact, width)


def first_of(cluster: Cluster) -> str:
    """The first of the similar lines, whose names and keys the template hides."""
    return cluster.sample or cluster.template


def without_header(template: str) -> str:
    """The text of a line without its time, level and process."""
    return template[parse_header(template).end :].lstrip("* ") or template


def _survived(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.survived:
        yield "Known failures, but the run continued after them:"
        yield from map(_listed, diagnosis.survived[:MAX_LISTED])


def _root(
    diagnosis: Diagnosis, root: Hit, page: str, redact: Redact, configured: Sequence[str], width: int, growth: str
) -> Iterator[str]:
    probably = "probably " if root.failure.is_probable else ""
    yield f"{probably}{root.failure.name} {root.failure.slug}: {_clean(explain(root, diagnosis.dialect), redact)}"
    if probably:
        yield "No signature matches the line. It is named by its words."
    yield ""
    yield from _quotation(root.line, redact, width)
    yield ""
    yield from _elsewhere(root, diagnosis, redact, width)
    if diagnosis.ranks:
        yield from (*textwrap.wrap(diagnosis.ranks, width), "")
    if growth:
        yield from (*textwrap.wrap(_clean(growth, redact), width), "")
    if configured:
        yield "In your configuration"
        yield from (f"  {_clean(line, redact)}" for line in configured)
        yield ""
    for title, body in advice(root, diagnosis, page):
        yield title
        yield from (f"  {line}".rstrip() for line in wrap_markdown(_clean(body, redact), width - 2))
    yield from _consequences(diagnosis, redact, width)
    if diagnosis.others:
        yield "Other possible causes, later or less certain:"
        yield from map(_listed, diagnosis.others[:MAX_LISTED])
    if root.failure.id:
        yield f"More: skyrl-doctor explain {root.failure.id}"


def _elsewhere(root: Hit, diagnosis: Diagnosis, redact: Redact, width: int) -> Iterator[str]:
    """The same failure in other files of the job: they may name the process or the limit."""
    same = [
        hit
        for hit in diagnosis.matches
        if hit.failure.name == root.failure.name
        and hit.failure.signature.role is Part.ROOT
        and hit.line.file != root.line.file
    ]
    if not same:
        return
    yield "The same failure in other files:"
    for hit in same[:MAX_LISTED]:
        yield f"  {_position(hit.line)}"
        below = [(number, text) for number, text in hit.line.context if number >= hit.line.number]
        for _, text in (below or [(0, hit.line.text)])[:4]:
            yield f"    {textwrap.shorten(_clean(text, redact), 3 * width, placeholder=' …')}"
    yield ""


def advice(root: Hit, diagnosis: Diagnosis, page: str) -> Iterator[tuple[str, str]]:
    """Titles and texts: the remedy of this cause, or else what the page of the failure says of all its causes."""
    if own := own_remedy(root, diagnosis):
        yield "What to do", own
        return
    sections = dict(parse(page).sections) if page else {}
    for heading, title in (("Why it breaks training", "Why"), ("How to fix", "What to do")):
        if heading in sections and (body := _fitted(sections[heading], parts_of(root, diagnosis))):
            yield title, _with_job(body, diagnosis)


def own_remedy(root: Hit, diagnosis: Diagnosis) -> str:
    """The remedy of this cause for the system that the logs show."""
    return _with_job(remedy(root, diagnosis.dialect, parts_of(root, diagnosis)), diagnosis)


def parts_of(root: Hit, diagnosis: Diagnosis) -> frozenset[str]:
    """The parts of a system that the logs show."""
    return shown_parts(diagnosis.parts, diagnosis.dialect, diagnosis.slurm_id, root.failure.name, root.line.text)


def _with_job(body: str, diagnosis: Diagnosis) -> str:
    return _JOB.sub(diagnosis.slurm_id, body) if diagnosis.slurm_id else body


def _fitted(body: str, parts: frozenset[str]) -> str:
    """The text of a page without sentences about skyrl-train, unless the logs are of it.

    A page explains the failure as a whole, so its sentences about other parts stay.
    """
    shown = parts | (ALL - {OURS})
    return "\n\n".join(kept for paragraph in body.split("\n\n") if (kept := fit(paragraph, shown, "\n")).strip())


def _consequences(diagnosis: Diagnosis, redact: Redact, width: int) -> Iterator[str]:
    cause = diagnosis.root.line if diagnosis.root else diagnosis.unknown
    root = diagnosis.root and (diagnosis.root.line.file, diagnosis.root.line.number)
    cascades = [
        hit
        for hit in diagnosis.matches
        if hit.failure.signature.role is Part.CASCADE and (hit.line.file, hit.line.number) != root
    ]
    if cascades:
        yield "Consequences, not the cause:"
        for hit in cascades[:MAX_LISTED]:
            sentence = explain_consequence(hit, cause, diagnosis.dialect)
            entry = f"{hit.failure.name}, {_position(hit.line)}: {_clean(sentence, redact)}"
            yield from textwrap.wrap(
                entry,
                width,
                initial_indent="  ",
                subsequent_indent="    ",
                break_long_words=False,
                break_on_hyphens=False,
            )


def _listed(hit: Hit) -> str:
    return f"  {hit.failure.name} {hit.failure.slug}, {_position(hit.line)}"


def _quotation(line: Line, redact: Redact, width: int = WIDTH) -> Iterator[str]:
    """The line among its neighbours, and where in the code it was raised. A neighbour fills two rows of the screen at most."""
    yield f"  {_position(line)}"
    for number, neighbour in line.context or ((line.number, line.text),):
        lead = f"  {'>' if number == line.number else ' '} {number:>6} | "
        clean = _clean(neighbour, redact)
        yield f"{lead}{clean if number == line.number else shortened(clean, 2 * width - len(lead))}"
    if line.frame:
        yield f"  raised in {_clean(line.frame, redact)}"
    if line.caller:
        yield f"  called from {_clean(line.caller, redact)}"
    if line.own:
        yield f"  called from your own code: {_clean(line.own, redact)}"


def _position(line: Line) -> str:
    return f"{encodable(plain(line.file))}:{line.number}"
