"""The cause of a failure for the page: of a diagnosis made now, or of one that `diagnose --format json` wrote."""

import dataclasses
from collections.abc import Iterator, Sequence

from skyrl_doctor.catalogue import catalogue
from skyrl_doctor.configured import read_configured
from skyrl_doctor.core.record import record
from skyrl_doctor.core.registry import find_check
from skyrl_doctor.core.signature import Part
from skyrl_doctor.found_by import page
from skyrl_doctor.logs.cause.root_cause import Diagnosis
from skyrl_doctor.logs.judge.frames import short_place
from skyrl_doctor.logs.judge.hits import Hit
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.judge.raised import search_text
from skyrl_doctor.logs.sentences import explain, explain_consequence
from skyrl_doctor.logs.show import (
    advice,
    earlier_runs,
    error_lines,
    first_of,
    stopped_at,
    stopped_step,
    without_header,
)
from skyrl_doctor.machine.local import LocalMachine
from skyrl_train.contracts.typed import Fields

MOST = 40
NOTHING = "No known failure and no error was found in the logs."
ENDED_NOTHING = "The first error line ended nothing: the program recovered, or the run continued."
NO_MATCH = "No known failure matched. The first error:"


@record(kw_only=True)
class Place:
    """A known failure in a log, in one line."""

    name: str
    place: str
    text: str = ""


@record(kw_only=True)
class Cause:
    """`known`: a signature names it. Without `headline` no error ended the run: `nothing` is what the logs show then.

    `quoted` are numbered lines of the log, `configured` is what the run's configuration says of the failure, `notes` are
    what else is known of the line and of the log.
    """

    headline: str = ""
    known: bool = False
    id: str = ""
    place: str = ""
    quoted: tuple[tuple[int, str], ...] = ()
    number: int = 0
    notes: tuple[str, ...] = ()
    configured: tuple[str, ...] = ()
    remedy: str = ""
    consequences: tuple[Place, ...] = ()
    others: tuple[Place, ...] = ()
    survived: tuple[Place, ...] = ()
    completed: bool = False
    nothing: str = NOTHING


def configured_cause(diagnosis: Diagnosis, files: Sequence[str]) -> Cause:
    """The cause with what these files of the run's configuration say of it. Raises UsageError if one is unreadable."""
    if not files:
        return cause_of(diagnosis)
    found = read_configured(LocalMachine(), list(files), diagnosis)
    return cause_of(dataclasses.replace(diagnosis, dialect=found.plan.dialect), found.lines)


def cause_of(diagnosis: Diagnosis, configured: tuple[str, ...] = ()) -> Cause:
    """The cause with the lines around it, its consequences and what else may have caused it."""
    root, unknown, dialect = diagnosis.root, diagnosis.unknown, diagnosis.dialect
    found = Cause(
        consequences=tuple(_places(diagnosis, [hit for hit in diagnosis.matches if _is_consequence(hit, root)])),
        others=tuple(_places(diagnosis, diagnosis.others)),
        survived=tuple(_places(diagnosis, diagnosis.survived)),
        completed=diagnosis.done is not None,
        nothing=_nothing(diagnosis),
        notes=(*filter(None, earlier_runs(diagnosis)), *filter(None, [diagnosis.ranks])),
        configured=configured,
    )
    if root is not None:
        probably = "probably " if root.failure.is_probable else ""
        return dataclasses.replace(
            _quoting(found, root.line),
            headline=f"{probably}{root.failure.name} {root.failure.slug}: {explain(root, dialect)}",
            known=True,
            id=root.failure.id or "",
            remedy=_what_to_do(root, diagnosis),
        )
    if unknown is not None:
        return dataclasses.replace(
            _quoting(found, unknown),
            headline=NO_MATCH,
            notes=(*found.notes, *_of_unknown(diagnosis)),
            others=tuple(_groups(diagnosis)),
        )
    if diagnosis.tolerated is not None:
        found = dataclasses.replace(_quoting(found, diagnosis.tolerated), notes=(*found.notes, ENDED_NOTHING))
    if diagnosis.stopped is not None:
        return dataclasses.replace(found, notes=(*found.notes, stopped_at(diagnosis.stopped)))
    return found


def _nothing(diagnosis: Diagnosis) -> str:
    """What the logs show where no error ended the run: errors that it survived, and where it stops."""
    stopped = f" {stopped_step(diagnosis.stopped)}." if diagnosis.stopped else ""
    return f"{_no_failure(diagnosis.errors) if diagnosis.tolerated else NOTHING}{stopped}"


def _no_failure(errors: int | None) -> str:
    found = "The logs show an error that ended nothing." if errors is None else error_lines(errors)
    return f"No known failure was found. {found}"


def _quoting(cause: Cause, line: Line) -> Cause:
    """The cause with the lines around this one."""
    quoted = line.context or ((line.number, line.text),)
    frame = (f"Raised in {line.frame}.",) if line.frame else ()
    caller = (f"Called from {line.caller}.",) if line.caller else ()
    own = (f"Called from your own code: {line.own}.",) if line.own else ()
    return dataclasses.replace(
        cause, place=_place(line), quoted=quoted, number=line.number, notes=(*cause.notes, *frame, *caller, *own)
    )


def _of_unknown(diagnosis: Diagnosis) -> Iterator[str]:
    """What is known of an error that no signature matches."""
    raised, similar = diagnosis.raised, diagnosis.cluster
    if raised is not None:
        if raised.package:
            yield f"Raised by {' '.join(filter(None, (raised.package, raised.version)))}."
        if searched := search_text(raised):
            yield f"Search the web for: {searched}"
        elif raised.place:
            yield f"This is your own code: look at {short_place(raised.place)}."
    if similar is not None and similar.count > 1:
        yield f"{similar.count} similar lines in this file, from line {similar.first} to {similar.last}."


def _groups(diagnosis: Diagnosis) -> Iterator[Place]:
    """The other errors that no known failure matches."""
    for group in diagnosis.groups[:MOST]:
        place = f"{group.file}:{group.cluster.first}"
        yield Place(
            name="1 x" if group.cluster.count == 1 else f"{group.cluster.count} lines like",
            place=place,
            text=without_header(first_of(group.cluster)),
        )


def _what_to_do(root: Hit, diagnosis: Diagnosis) -> str:
    """The signature's own remedy, else what the page of its failure says."""
    told = page(catalogue().find(root.failure.id), find_check(root.failure.id)) if root.failure.id else ""
    return next((text for title, text in advice(root, diagnosis, told) if title == "What to do"), "")


def cause_in(stored: Fields) -> Cause:
    """The cause in the JSON of `diagnose`. Raises FormatError."""
    root, unknown = stored.inner_or_none("root"), stored.inner_or_none("unknown")
    found = root or unknown
    consequences = tuple(
        Place(name=_name(one), place=f"{one.text('file')}:{one.integer('line')}")
        for one in stored.objects("matches")[:MOST]
        if one.text("role") == Part.CASCADE
    )
    if found is None:
        tolerated = stored.inner_or_none("tolerated")
        errors = None if tolerated is None or tolerated.value("lines") is None else tolerated.integer("lines")
        return Cause(consequences=consequences, nothing=_no_failure(errors) if tolerated else NOTHING)
    number = found.integer("line")
    probably = "probably " if found.value("probable") is True else ""
    headline = f"{probably}{_name(root)}: {root.text('explain')}" if root else NO_MATCH
    return Cause(
        headline=headline,
        known=root is not None,
        id=str(root.value("id") or "") if root else "",
        place=f"{found.text('file')}:{number}",
        quoted=((number, found.text("text")),),
        number=number,
        remedy=str(found.value("remedy") or ""),
        notes=tuple(_stored_notes(found)),
        consequences=consequences,
    )


def _stored_notes(found: Fields) -> Iterator[str]:
    """What the JSON says of an error that no signature matches, and that it holds only the line."""
    if found.value("package"):
        yield f"Raised by {found.text('package')} {found.value('version') or ''}".rstrip() + "."
    if found.value("search"):
        yield f"Search the web for: {found.text('search')}"
    yield "The JSON of `diagnose` holds only this line. The lines around it: `skyrl-doctor report LOG`."


def _is_consequence(hit: Hit, root: Hit | None) -> bool:
    own = root and (root.line.file, root.line.number)
    return hit.failure.signature.role is Part.CASCADE and (hit.line.file, hit.line.number) != own


def _places(diagnosis: Diagnosis, hits: tuple[Hit, ...] | list[Hit]) -> Iterator[Place]:
    cause = diagnosis.root.line if diagnosis.root else diagnosis.unknown
    for hit in hits[:MOST]:
        name = f"{hit.failure.id or ''} {hit.failure.slug}".strip()
        is_cascade = hit.failure.signature.role is Part.CASCADE
        text = explain_consequence(hit, cause if is_cascade else None, diagnosis.dialect)
        yield Place(name=name, place=_place(hit.line), text=text)


def _name(one: Fields) -> str:
    return f"{one.value('id') or ''} {one.text('slug')}".strip()


def _place(line: Line) -> str:
    return f"{line.file}:{line.number}"
