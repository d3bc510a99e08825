"""skyrl-doctor explain: prints the page of a failure."""

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from skyrl_train.contracts.screen import print_lines

if TYPE_CHECKING:
    from skyrl_doctor.catalogue import Entry
    from skyrl_doctor.core.check import Check

WIDTH = 80


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="ID|SLUG", help="id or slug of a failure, such as GPU001 or mig-uuid")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.report.json import encode

    entry, check = find_failure(args.name)
    if args.format == "json":
        sys.stdout.write(encode(page_data(entry, check)))
    else:
        print_lines(page_lines(entry, check))
    return 0


def find_failure(name: str) -> "tuple[Entry | None, Check | None]":
    """The catalogue entry and the check of this id or slug. Raises UsageError, which names the closest one."""
    from skyrl_doctor.catalogue import catalogue, closest
    from skyrl_doctor.core.errors import UsageError
    from skyrl_doctor.core.registry import discover

    checks = discover().checks
    key = name.strip().lower()
    check = next((check for check in checks if key in (check.id.lower(), check.slug.lower())), None)
    entry = catalogue().find(check.id if check else name)
    if entry is None and check is None:
        ids = {entry.id: entry.slug for entry in catalogue().entries} | {check.id: check.slug for check in checks}
        close = closest(name, (*ids, *ids.values()))
        hint = f"did you mean {close}?" if close else "run `skyrl-doctor list` for all failures"
        raise UsageError(f"unknown failure {name!r}; {hint}")
    return entry, check


def page_data(entry: "Entry | None", check: "Check | None") -> dict[str, Any]:
    """The page as JSON types: the row of `list` and the sections."""
    from skyrl_doctor.cli.listing import row
    from skyrl_doctor.found_by import page
    from skyrl_doctor.page import parse

    sections = [{"heading": heading, "text": body} for heading, body in parse(page(entry, check)).sections]
    return {"schema": 1, **row(entry, check), "sections": sections}


def page_lines(entry: "Entry | None", check: "Check | None") -> Iterator[str]:
    """The lines of the page, for a terminal of 80 columns."""
    from skyrl_doctor.found_by import found_by, page
    from skyrl_doctor.page import parse, wrap_markdown
    from skyrl_doctor.report.plain import plain

    named = check or entry
    assert named is not None, "find_failure returns an entry, a check, or both"
    yield f"{named.id} {named.slug}"
    if entry is not None:
        yield f"Appears {', '.join(when.words for when in entry.when)}."
    parsed = parse(plain(page(entry, check)))
    yield ""
    yield from wrap_markdown(parsed.summary, WIDTH)
    for heading, body in parsed.sections:
        yield heading
        yield "-" * len(heading)
        yield from wrap_markdown(body, WIDTH)
    if check is not None:
        yield f"Roles: {', '.join(sorted(check.roles))}. {_fix_line(check.fix)}"
    elif entry is not None:
        yield f"No check finds it before the job. {found_by(entry)}"


def _fix_line(fix: str) -> str:
    kind, _, why = fix.partition(":")
    return f"Fixed by the operator: {why.strip().rstrip('.')}." if kind == "operator" else f"Fixed by {fix}."
