"""skyrl-train config: explains the settings of a run, and prints their defaults or their JSON Schema."""

import argparse
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from skyrl_train.contracts.screen import columns, print_lines

if TYPE_CHECKING:
    from skyrl_train.config.reference import Setting

SCHEMA_LINE = "#:schema ./run_config.schema.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="WHAT")
    explain = verbs.add_parser("explain", help="print what keys mean: type, default, verl's key, the checks")
    explain.add_argument(
        "keys",
        nargs="*",
        metavar="KEY",
        help="a key of ours or of verl, a table such as rollout, or words to search for (default: list the tables)",
    )
    verbs.add_parser("defaults", help="print a run.toml with every key, its meaning and its default")
    verbs.add_parser("schema", help="print the JSON Schema of a run.toml, for an editor")
    parser.epilog = (
        "Editors with the taplo language server (VS Code: Even Better TOML) check and complete a run.toml if its first "
        f"line is `{SCHEMA_LINE}` and the output of `config schema` is in that file."
    )


def run(args: argparse.Namespace) -> int:
    if args.verb == "schema":
        from skyrl_train.config.schema import text

        sys.stdout.write(text())
    elif args.verb == "defaults":
        from skyrl_train.config.template import defaults

        sys.stdout.write(defaults())
    else:
        width = min(columns(), 100)
        print_lines(_explained(args.keys, width) if args.keys else _tables(width))
    return 0


def _tables(width: int) -> Iterator[str]:
    """The tables of a run.toml, each with its meaning and the number of its keys."""
    from skyrl_train.config.reference import settings, tables

    counts = Counter(one.table for one in settings())
    longest = max(map(len, tables()))
    for name, meaning in tables().items():
        keys = f" ({counts[name]} {'key' if counts[name] == 1 else 'keys'})"
        yield from textwrap.wrap(
            f"{name:<{longest}}  {meaning}{keys}", width, subsequent_indent=" " * (longest + 2), break_on_hyphens=False
        )
    yield ""
    yield "`skyrl-train config explain TABLE` explains its keys"


def _explained(keys: list[str], width: int) -> Iterator[str]:
    from skyrl_train.config.reference import read_by

    checks = read_by()
    for place, setting in enumerate(_asked(keys)):
        if place:
            yield ""
        yield setting.key
        for name, text in _facts(setting, checks.get(setting.key, [])):
            indent = " " * 11
            yield from textwrap.wrap(
                text,
                width,
                initial_indent=f"  {name:<9}",
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )


def _facts(setting: "Setting", checks: list[str]) -> Iterator[tuple[str, str]]:
    yield "meaning", setting.meaning
    yield "type", ", ".join(filter(None, (setting.kind, setting.limits)))
    yield "default", "none: it must be set" if setting.is_required else setting.default or "not set"
    yield from setting.theirs.items()
    if checks:
        yield "checks", " ".join(checks)


def _asked(keys: list[str]) -> "list[Setting]":
    """The settings of these keys, or those that have all these words. Raises UsageError."""
    from skyrl_train.config.reference import closest, search
    from skyrl_train.contracts.errors import UsageError

    named = [_named(key) for key in keys]
    if all(named):
        return [one for found in named for one in found]
    if found := search(keys):
        return found
    unknown = next(key for key, found in zip(keys, named, strict=True) if not found)
    close = closest(unknown)
    hint = f"did you mean {' or '.join(close)}?" if close else "`skyrl-train config defaults` prints all"
    raise UsageError(f"unknown setting {unknown!r}; {hint}")


def _named(key: str) -> "list[Setting]":
    """The setting of this key, or all of a table."""
    from skyrl_train.config.reference import find, settings

    found = find(key)
    return [found] if found is not None else [one for one in settings() if one.key.startswith(f"{key}.")]
