"""skyrl-doctor explain: prints the page of a failure."""

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from skyrl_doctor.core.record import record
from skyrl_train.contracts.screen import columns, fitted, print_lines

if TYPE_CHECKING:
    from skyrl_doctor.catalogue import Entry
    from skyrl_doctor.core.check import Check

WIDEST, USUAL = 100, 80
MOST = 8
"""Failures that one screen lists."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="+",
        metavar="NAME",
        help="id or slug of a failure, such as GPU001 or mig-uuid, or words of its page",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.report.json import encode

    found = find_failures(" ".join(args.words))
    if (len(found.ids) > 1 or found.note) and args.format == "text":
        print_lines(_choice(found, " ".join(args.words)))
        return 0
    pages = [_failure(id_) for id_ in found.ids]
    if args.format == "json":
        data = [page_data(entry, check) for entry, check in pages]
        notes = {"notes": [found.note]} if found.note else {}
        sys.stdout.write(encode(data[0] if len(data) == 1 and not notes else {"schema": 1, "failures": data, **notes}))
    else:
        print_lines(page_lines(*pages[0], min(columns(), WIDEST)))
    return 0


@record
class Found:
    """The failures that a name or words mean; `note` tells if they do not have all words."""

    ids: tuple[str, ...]
    note: str = ""
    others: int = 0
    """Failures that `list` finds too: they have the words only in their pages or log lines."""


def find_failures(name: str) -> Found:
    """The failure with this id or slug, or those that `list` finds by these words. Raises UsageError if there is none."""
    from skyrl_doctor.catalogue import closest
    from skyrl_doctor.cli.listing import rows
    from skyrl_doctor.cli.search import find
    from skyrl_doctor.core.errors import UsageError
    from skyrl_doctor.core.registry import discover

    entry, check = _failure(name)
    if named := check or entry:
        return Found((named.id,))
    known = rows(discover().checks)
    hits = find(known, (name,))
    is_name = bool(hits.note) and " " not in name.strip()
    close = closest(name, (text for row in known for text in (row["id"], row["slug"]))) if is_name else None
    if hits.rows and not close:
        found = hits.named or hits.rows
        return Found(tuple(row["id"] for row in found), hits.note, len(hits.rows) - len(found))
    close = close or closest(name, (text for row in known for text in (row["id"], row["slug"])))
    hint = f"did you mean {close}?" if close else "run `skyrl-doctor list` for all failures"
    raise UsageError(f"no failure has the name or the words {name!r}; {hint}")


def _failure(name: str) -> "tuple[Entry | None, Check | None]":
    """The catalogue entry and the check of this id or slug. A check of another package has no entry."""
    from skyrl_doctor.catalogue import catalogue
    from skyrl_doctor.core.registry import discover

    key = name.strip().lower()
    check = next((check for check in discover().checks if key in (check.id.lower(), check.slug.lower())), None)
    return catalogue().find(check.id if check else name), check


def _choice(found: Found, words: str) -> Iterator[str]:
    """The failures that match, one line each, the best first."""
    from skyrl_doctor.cli.listing import row, table

    several = len(found.ids) != 1
    way = f"run `skyrl-doctor explain` with {'one of these ids' if several else 'this id'}:"
    head = f"{words!r}: {found.note}" if found.note else f"{len(found.ids)} failures match {words!r}"
    yield from fitted([f"{head}; {way}"], columns())
    yield from table([row(*_failure(id_)) for id_ in found.ids[:MOST]], columns())
    if len(found.ids) > MOST:
        yield f"{len(found.ids) - MOST + found.others} more: skyrl-doctor list {words}"
    elif found.others:
        text = f"{found.others} more with these words in their pages or log lines: skyrl-doctor list {words}"
        yield from fitted([text], columns())


def page_data(entry: "Entry | None", check: "Check | None") -> dict[str, Any]:
    """The page as JSON types: the row of `list` and the sections."""
    from skyrl_doctor.cli.listing import row
    from skyrl_doctor.found_by import page
    from skyrl_doctor.page import parse

    sections = [{"heading": heading, "text": body} for heading, body in parse(page(entry, check)).sections]
    return {"schema": 1, **row(entry, check), "sections": sections}


def page_lines(entry: "Entry | None", check: "Check | None", width: int = USUAL) -> Iterator[str]:
    """The lines of the page, wrapped to `width` columns."""
    from skyrl_doctor.cli.listing import roles_in_words
    from skyrl_doctor.found_by import found_by, page
    from skyrl_doctor.page import parse, wrap_markdown
    from skyrl_doctor.report.plain import plain

    named = check or entry
    assert named is not None, "find_failures names an entry, a check, or both"
    yield f"{named.id} {named.slug}"
    if entry is not None:
        yield f"Appears {', '.join(when.words for when in entry.when)}."
    parsed = parse(plain(page(entry, check)))
    yield ""
    yield from wrap_markdown(parsed.summary, width)
    for heading, body in parsed.sections:
        yield heading
        yield "-" * len(heading)
        yield from wrap_markdown(body, width)
    if check is not None:
        yield f"Checked on {roles_in_words(check.roles)}. {_fix_line(check.fix)}"
    elif entry is not None:
        yield f"No check finds it before the job. {found_by(entry)}"


def _fix_line(fix: str) -> str:
    kind, _, why = fix.partition(":")
    return f"Only you can cure it: {why.strip().rstrip('.')}." if kind == "operator" else f"Related code: {fix}."
