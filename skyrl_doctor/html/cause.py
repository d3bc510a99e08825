"""The cause of a failure for the page: of a diagnosis made now, or of one that `diagnose --format json` wrote."""

from collections.abc import Iterator

from skyrl_doctor.catalogue import catalogue
from skyrl_doctor.core.record import record
from skyrl_doctor.core.registry import find_check
from skyrl_doctor.core.signature import Part
from skyrl_doctor.found_by import page
from skyrl_doctor.logs.cause.root_cause import Diagnosis
from skyrl_doctor.logs.judge.hits import Hit
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.judge.raised import search_text
from skyrl_doctor.logs.sentences import explain
from skyrl_doctor.logs.show import advice
from skyrl_train.contracts.typed import Fields

MOST = 40


@record(kw_only=True)
class Place:
    """A known failure in a log, in one line."""

    name: str
    place: str
    text: str = ""


@record(kw_only=True)
class Cause:
    """`known`: a signature names it. Without `headline` no error was found. `quoted` are numbered lines of the log."""

    headline: str = ""
    known: bool = False
    id: str = ""
    place: str = ""
    quoted: tuple[tuple[int, str], ...] = ()
    number: int = 0
    note: str = ""
    remedy: str = ""
    consequences: tuple[Place, ...] = ()
    others: tuple[Place, ...] = ()
    survived: tuple[Place, ...] = ()
    completed: bool = False


def cause_of(diagnosis: Diagnosis) -> Cause:
    """The cause with the lines around it, its consequences and what else may have caused it."""
    root, unknown, dialect = diagnosis.root, diagnosis.unknown, diagnosis.dialect
    line = root.line if root else unknown
    shared = Cause(
        consequences=tuple(_places(diagnosis, [hit for hit in diagnosis.matches if _is_consequence(hit, root)])),
        others=tuple(_places(diagnosis, diagnosis.others)),
        survived=tuple(_places(diagnosis, diagnosis.survived)),
        completed=diagnosis.done is not None,
        note=diagnosis.ranks,
    )
    if line is None:
        return shared
    fields = {name: getattr(shared, name) for name in ("consequences", "others", "survived", "completed")}
    quoted = line.context or ((line.number, line.text),)
    if root is None:
        search = f"Search the web for: {search_text(diagnosis.raised)}" if diagnosis.raised else ""
        headline = "No known failure matched. The first error:"
        return Cause(headline=headline, place=_place(line), quoted=quoted, number=line.number, note=search, **fields)
    probably = "probably " if root.failure.is_probable else ""
    return Cause(
        headline=f"{probably}{root.failure.name} {root.failure.slug}: {explain(root, dialect)}",
        known=True,
        id=root.failure.id or "",
        place=_place(line),
        quoted=quoted,
        number=line.number,
        note=diagnosis.ranks,
        remedy=_what_to_do(root, dialect),
        **fields,
    )


def _what_to_do(root: Hit, dialect: str) -> str:
    """The signature's own remedy, else what the page of its failure says."""
    told = page(catalogue().find(root.failure.id), find_check(root.failure.id)) if root.failure.id else ""
    return next((text for title, text in advice(root, dialect, told) if title == "What to do"), "")


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
        return Cause(consequences=consequences)
    number = found.integer("line")
    probably = "probably " if found.value("probable") is True else ""
    headline = (
        f"{probably}{_name(root)}: {root.text('explain')}" if root else "No known failure matched. The first error:"
    )
    return Cause(
        headline=headline,
        known=root is not None,
        id=str(root.value("id") or "") if root else "",
        place=f"{found.text('file')}:{number}",
        quoted=((number, found.text("text")),),
        number=number,
        remedy=str(found.value("remedy") or ""),
        consequences=consequences,
    )


def _is_consequence(hit: Hit, root: Hit | None) -> bool:
    own = root and (root.line.file, root.line.number)
    return hit.failure.signature.role is Part.CASCADE and (hit.line.file, hit.line.number) != own


def _places(diagnosis: Diagnosis, hits: tuple[Hit, ...] | list[Hit]) -> Iterator[Place]:
    for hit in hits[:MOST]:
        name = f"{hit.failure.id or ''} {hit.failure.slug}".strip()
        yield Place(name=name, place=_place(hit.line), text=explain(hit, diagnosis.dialect))


def _name(one: Fields) -> str:
    return f"{one.value('id') or ''} {one.text('slug')}".strip()


def _place(line: Line) -> str:
    return f"{line.file}:{line.number}"
