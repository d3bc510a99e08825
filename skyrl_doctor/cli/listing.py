"""skyrl-doctor list: prints every known failure and what finds it."""

import argparse
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from skyrl_train.contracts.screen import USUAL, limit, print_lines, print_note

if TYPE_CHECKING:
    from skyrl_doctor.catalogue import Entry
    from skyrl_doctor.core.check import Check

INDENT = " " * 8
ROOMY = 140
"""Columns from which a line holds most sentences after the columns of when and where."""
WHEN = {"P": "before", "W": "during", "L": "logs", "K": "contract"}
"""When a failure is found, in the table of `list`."""
WHEN_WORDS = {"P": "before the job", "W": "during the job", "L": "in its logs", "K": "by a contract test"}
ROLES = {"gpu": "GPU", "login": "login", "runtime": "runtime"}
LEGEND = (
    "before the job by preflight, during it by watch, in its logs by diagnose, or by a contract test of our programs; "
    "then the kinds of machines that its check runs on"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="list only failures with these words: in names, pages and log lines"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.epilog = f"Of each failure: its id, its short name, what goes wrong, and when it is found: {LEGEND}."


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.cli.search import find
    from skyrl_doctor.core.errors import UsageError
    from skyrl_doctor.core.registry import discover
    from skyrl_doctor.report.json import encode

    registry = discover()
    hits = find(rows(registry.checks), args.words)
    if args.words and not hits.rows:
        raise UsageError(f"no failure has the words {' '.join(args.words)!r}; `skyrl-doctor list` prints all")
    notes = [f"{' '.join(args.words)!r}: {hits.note}"] if hits.note else []
    if args.format == "json":
        sys.stdout.write(encode({"schema": 1, "failures": list(hits.rows), "notes": [*notes, *registry.broken]}))
        return 0
    for note in notes:
        print_note(f"skyrl-doctor list: {note}:")
    columns = limit()
    is_short = not args.words and columns is not None and USUAL <= columns < ROOMY
    print_lines(short_table(hits.rows, columns or USUAL) if is_short else table(hits.rows, columns))
    for note in registry.broken:
        print_note(f"skyrl-doctor list: {note}")
    return 0


def rows(checks: "tuple[Check, ...]") -> list[dict[str, Any]]:
    """The catalogue in its order, then the checks of other packages by id, as JSON types."""
    from skyrl_doctor.catalogue import catalogue

    built = {check.id: check for check in checks}
    entries = {entry.id: entry for entry in catalogue().entries}
    ids = [*entries, *sorted(set(built) - set(entries))]
    return [row(entries.get(id_), built.get(id_)) for id_ in ids]


def row(entry: "Entry | None", check: "Check | None") -> dict[str, Any]:
    """One failure as JSON types. A check of another package has no entry."""
    from skyrl_doctor.found_by import finders, page
    from skyrl_doctor.page import parse

    named = check or entry
    assert named is not None, "a row needs an entry, a check, or both"
    return {
        "id": named.id,
        "slug": named.slug,
        "built": check is not None,
        "found_by": ["skyrl-doctor preflight"] if check else list(finders(entry)) if entry else [],
        "core": entry.core if entry else False,
        "when": [when.value for when in entry.when] if entry else [],
        "roles": sorted(check.roles) if check else [],
        "summary": parse(page(entry, check)).summary,
        "fix": check.fix if check else None,
        "module": named.module,
    }


def table(known: Sequence[dict[str, Any]], columns: int | None = None) -> Iterator[str]:
    """One line per failure, so that grep prints all of it. On a terminal of `columns` the summary is wrapped."""
    from skyrl_doctor.report.plain import plain

    width = max(len(row["slug"]) for row in known)
    for row in known:
        when = ", ".join(WHEN[one] for one in row["when"]) or "-"
        roles = ",".join(row["roles"]) or "-"
        name = f"{row['id']:<8}{row['slug']:<{width}}"
        summary = plain(row["summary"])
        line = f"{name}  {when:<20}  {roles:<17}  {summary}".rstrip()
        if columns is None or len(line) <= columns:
            yield line
        else:
            yield f"{row['id']:<8}{row['slug']}"
            yield from textwrap.wrap(
                f"{summary}{_found_in_words(row)}",
                columns,
                initial_indent=INDENT,
                subsequent_indent=INDENT,
                break_long_words=False,
                break_on_hyphens=False,
            )


def short_table(known: Sequence[dict[str, Any]], columns: int) -> Iterator[str]:
    """One row of the terminal per failure; a longer sentence is cut."""
    from skyrl_doctor.report.plain import plain

    width = max(len(row["slug"]) for row in known)
    for row in known:
        line = f"{row['id']:<8}{row['slug']:<{width}}  {plain(row['summary'])}"
        yield line if len(line) <= columns else f"{line[: columns - 1]}…"
    yield "`skyrl-doctor explain ID` prints the page of a failure"


def _found_in_words(row: dict[str, Any]) -> str:
    """When the failure is found, and on which machines its check runs."""
    when = in_words([WHEN_WORDS[one] for one in row["when"]])
    roles = f", on {roles_in_words(row['roles'])}" if row["roles"] else ""
    return f" Found {when or 'by a check'}{roles}." if when or roles else ""


def roles_in_words(roles: Iterable[str]) -> str:
    """`login and GPU nodes`"""
    return f"{in_words([ROLES[role] for role in sorted(roles)])} nodes"


def in_words(items: Sequence[str]) -> str:
    """`a, b and c`"""
    *first, last = items or [""]
    return f"{', '.join(first)} and {last}" if first else last
