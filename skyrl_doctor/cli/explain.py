"""skyrl-doctor explain: prints the page of a failure."""

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from skyrl_train.contracts.screen import columns, print_lines

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

    ids = find_failures(" ".join(args.words))
    if len(ids) > 1 and args.format == "text":
        print_lines(_choice(ids, " ".join(args.words)))
        return 0
    pages = [_failure(id_) for id_ in ids]
    if args.format == "json":
        found = [page_data(entry, check) for entry, check in pages]
        sys.stdout.write(encode(found[0] if len(found) == 1 else {"schema": 1, "failures": found}))
    else:
        print_lines(page_lines(*pages[0], min(columns(), WIDEST)))
    return 0


def find_failures(name: str) -> tuple[str, ...]:
    """The id of the failure with this id or slug, or the ids of those whose page has these words. Raises UsageError."""
    from skyrl_doctor.catalogue import closest
    from skyrl_doctor.cli.listing import rows
    from skyrl_doctor.cli.search import find_one
    from skyrl_doctor.core.errors import UsageError
    from skyrl_doctor.core.registry import discover

    entry, check = _failure(name)
    if named := check or entry:
        return (named.id,)
    known = rows(discover().checks)
    if found := find_one(known, (name,)):
        return tuple(row["id"] for row in found)
    close = closest(name, (text for row in known for text in (row["id"], row["slug"])))
    hint = f"did you mean {close}?" if close else "run `skyrl-doctor list` for all failures"
    raise UsageError(f"no failure has the name or the words {name!r}; {hint}")


def _failure(name: str) -> "tuple[Entry | None, Check | None]":
    """The catalogue entry and the check of this id or slug. A check of another package has no entry."""
    from skyrl_doctor.catalogue import catalogue
    from skyrl_doctor.core.registry import discover

    key = name.strip().lower()
    check = next((check for check in discover().checks if key in (check.id.lower(), check.slug.lower())), None)
    return catalogue().find(check.id if check else name), check


def _choice(ids: tuple[str, ...], words: str) -> Iterator[str]:
    """The failures that match, one line each, the best first."""
    from skyrl_doctor.cli.listing import row, table

    yield f"{len(ids)} failures match {words!r}; run `skyrl-doctor explain` with one of these ids:"
    yield from table([row(*_failure(id_)) for id_ in ids[:MOST]], columns())
    if len(ids) > MOST:
        yield f"{len(ids) - MOST} more: skyrl-doctor list {words}"


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
