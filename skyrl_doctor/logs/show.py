"""A diagnosis for a person and for programs. What it quotes has no secrets and no control characters."""

import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from skyrl_doctor.core.check import Check
from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.cause.root_cause import Diagnosis
from skyrl_doctor.logs.judge.clusters import Cluster
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.judge.scanner import Hit
from skyrl_doctor.page import parse, wrap_markdown
from skyrl_doctor.report.plain import encodable, plain

WIDTH = 80
SHOWN = 12
Redact = Callable[[str], str]


def data(diagnosis: Diagnosis, redact: Redact) -> dict[str, Any]:
    """What stands in the JSON."""
    root, unknown = diagnosis.root, diagnosis.unknown
    return {
        "schema": 1,
        "root": None
        if root is None
        else {
            **_named(root),
            **_place(root.line),
            "text": _clean(root.line.text, redact),
            "explain": root.known.signature.explain,
        },
        "matches": [
            {**_named(hit), "role": str(hit.known.signature.role), **_place(hit.line)} for hit in diagnosis.matches
        ],
        "unknown": None if unknown is None else _unknown(unknown, diagnosis.cluster, redact),
    }


def _unknown(line: Line, cluster: Cluster | None, redact: Redact) -> dict[str, Any]:
    alike = cluster or Cluster(line.text, 1, line.number, line.number)
    return {
        **_place(line),
        "text": _clean(line.text, redact),
        "cluster": {
            "template": _clean(alike.template, redact),
            "count": alike.count,
            "first": alike.first,
            "last": alike.last,
        },
    }


def _named(hit: Hit) -> dict[str, Any]:
    return {"id": hit.known.id, "slug": hit.known.slug}


def _place(line: Line) -> dict[str, Any]:
    return {"file": encodable(line.file), "line": line.number}


def _clean(text: str, redact: Redact) -> str:
    return plain(redact(text))


def text(diagnosis: Diagnosis, check: Check | None, redact: Redact, files: int) -> Iterator[str]:
    """The same for a screen."""
    if diagnosis.root is not None:
        yield from _root(diagnosis, diagnosis.root, check, redact)
    elif diagnosis.unknown is not None:
        yield "No known failure matched. The first line that looks like an error:"
        yield from _quoted(diagnosis.unknown, redact)
        if diagnosis.unknown.frame:
            yield f"  raised in {_clean(diagnosis.unknown.frame, redact)}"
        if diagnosis.cluster and diagnosis.cluster.count > 1:
            alike = diagnosis.cluster
            told = "" if alike.template == diagnosis.unknown.text else f": {_clean(alike.template, redact)}"
            yield f"  {alike.count} lines of that file are alike, from line {alike.first} to {alike.last}{told}"
        yield from _consequences(diagnosis)
    else:
        end = f", and the run came to its end ({_at(diagnosis.done)})" if diagnosis.done else ""
        yield from _outlived(diagnosis)
        yield f"Nothing found in {files} {'file' if files == 1 else 'files'}: no known failure, nothing that looks like an error{end}."


def _outlived(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.outlived:
        yield "Seen, and outlived by the run:"
        yield from (f"  {hit.known.name} {hit.known.slug}, {_at(hit.line)}" for hit in diagnosis.outlived[:SHOWN])


def _root(diagnosis: Diagnosis, root: Hit, check: Check | None, redact: Redact) -> Iterator[str]:
    yield f"{root.known.name} {root.known.slug}: {root.known.signature.explain}"
    yield ""
    yield from _quoted(root.line, redact)
    if root.line.frame:
        yield f"  raised in {_clean(root.line.frame, redact)}"
    yield ""
    sections = dict(parse(check.page).sections) if check else {}
    for heading, title in (("Why it breaks training", "Why"), ("How to fix", "What to do")):
        if heading in sections:
            yield title
            yield from (f"  {line}".rstrip() for line in wrap_markdown(plain(sections[heading]), WIDTH - 2))
    if root.known.id:
        yield f"More: skyrl-doctor explain {root.known.id}"
    yield from _consequences(diagnosis)
    if diagnosis.others:
        yield "Also seen, later or weaker:"
        yield from (f"  {hit.known.name} {hit.known.slug}, {_at(hit.line)}" for hit in diagnosis.others[:SHOWN])


def _consequences(diagnosis: Diagnosis) -> Iterator[str]:
    cascades = [hit for hit in diagnosis.matches if hit.known.signature.role is Part.CASCADE]
    if cascades:
        yield "What it was not: these lines follow from it, in this order"
        for hit in cascades[:SHOWN]:
            said = f"{hit.known.slug}, {_at(hit.line)}: {hit.known.signature.explain}"
            yield from textwrap.wrap(said, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)


def _quoted(line: Line, redact: Redact) -> Iterator[str]:
    yield f"  {_at(line)}"
    for number, quoted in line.context or ((line.number, line.text),):
        mark = ">" if number == line.number else " "
        yield f"  {mark} {number:>6} | {_clean(quoted, redact)}"


def _at(line: Line) -> str:
    return f"{encodable(plain(line.file))}:{line.number}"
