"""skyrl-doctor read: prints how the doctor reads a configuration: each setting, its value and its place."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from skyrl_doctor.cli.options import add_versions
from skyrl_train.contracts.screen import print_lines

if TYPE_CHECKING:
    from skyrl_doctor.plan.model import Plan, Value

LIMIT_S = 20.0


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("targets", nargs="+", metavar="TARGET", help="a configuration, as for preflight")
    add_versions(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="also print the defaults of the framework")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.epilog = "Settings are named as in a run.toml; behind each is its place and its name in the file."


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.core.errors import CouldNotLook, UsageError
    from skyrl_doctor.core.time_limit import call_within
    from skyrl_doctor.machine.local import LocalMachine
    from skyrl_doctor.plan.load import load
    from skyrl_doctor.report.json import encode

    machine = LocalMachine()
    try:
        plan = call_within(
            LIMIT_S, lambda: load(machine, args.targets, verl_version=args.verl_version), "reading the target"
        )
    except CouldNotLook as error:
        raise UsageError(str(error)) from None
    finally:
        machine.close()
    found = data(plan)
    if args.format == "json":
        sys.stdout.write(encode(found))
    else:
        print_lines(_lines(found, defaults=args.verbose))
    return 0


def data(plan: "Plan") -> dict[str, Any]:
    """The plan as JSON types, without secrets. `others` are written settings that no key of a run.toml stands for.
    `unread` are the problems with words of the command whose settings are not known.

    `is_default`: the framework has this value without it.
    """
    from skyrl_doctor.machine.redact import Redactor, secrets_of

    redact = Redactor((*_secrets(plan), *secrets_of(os.environ)))
    named = {one.name for one in plan.values.values()}
    others = [
        one
        for name, one in plan.own.items()
        if one.written and name not in named and not _has_parts(one.value) and not _is_read(plan, one)
    ]
    return {
        "schema": 1,
        "dialect": plan.dialect,
        "settings": [
            _value(key, one, redact)
            for key, one in plan.values.items()
            if one.value is not None and not _has_parts(one.value)
        ],
        "others": [{**_value(one.key, one, redact), "is_default": _is_default(plan, one)} for one in others],
        "problems": [redact(problem.message) for problem in plan.problems],
        "unread": [
            {"message": redact(problem.message), "file": problem.location.file, "line": problem.location.line}
            for problem in plan.problems
            if problem.is_unread
        ],
    }


def _is_read(plan: "Plan", other: "Value") -> bool:
    """Whether a setting has the same value under another name: `#SBATCH --nodes` beside trainer.nnodes."""
    found = plan.values.get(other.key)
    return found is not None and not found.unknown and found.value == other.value


def _is_default(plan: "Plan", other: "Value") -> bool:
    from skyrl_doctor.plan.dialects.verl import defaults

    return plan.dialect.startswith("verl") and not other.unknown and defaults.is_default(other.name, other.value)


def _secrets(plan: "Plan") -> Iterator[str]:
    """The values of settings and variables whose names are those of secrets."""
    from skyrl_doctor.machine.secret_names import is_secret_key

    for one in (*plan.values.values(), *plan.own.values()):
        pairs = one.value.items() if isinstance(one.value, Mapping) else [(one.key.rpartition(".")[2], one.value)]
        yield from (value for name, value in pairs if isinstance(value, str) and is_secret_key(str(name)))


def _without_secrets(value: object, redact: "Callable[[str], str]") -> object:
    if isinstance(value, str):
        return redact(value)
    return [_without_secrets(one, redact) for one in value] if isinstance(value, list | tuple) else value


def _has_parts(value: object) -> bool:
    """Whether it is a table, or a list of tables, whose keys are listed by themselves."""
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and any(map(_has_parts, value)))


def _value(setting: str, one: "Value", redact: "Callable[[str], str]") -> dict[str, Any]:
    place, value = one.location, _without_secrets(one.value, redact)
    return {
        "setting": setting,
        "name": one.name,
        "value": value,
        "written": one.written,
        "unknown": redact(one.unknown) or ("" if value == one.value else "it holds a secret"),
        "file": place.file if place else None,
        "line": place.line if place else None,
    }


def _lines(found: dict[str, Any], *, defaults: bool) -> Iterator[str]:
    yield f"read as: {found['dialect']}"
    for one in found["settings"]:
        if one["written"] or defaults:
            yield f"{one['setting']} = {_shown(one)}{_place(one, own=one['setting'])}"
    if found["others"]:
        yield ""
        yield "settings that a run.toml does not have:"
        yield from (f"{one['name']} = {_shown(one)}{_place(one, own=one['name'])}" for one in found["others"])
    if found["problems"]:
        yield ""
        yield from (f"problem: {text}" for text in found["problems"])


def _shown(one: dict[str, Any]) -> str:
    return f"{one['value']} ({one['unknown']})" if one["unknown"] else repr(one["value"])


def _place(one: dict[str, Any], *, own: str) -> str:
    line = "" if one["line"] is None else f":{one['line']}"
    name = "" if one["name"] == own else f" {one['name']}"
    where = f"{one['file']}{line}{name}" if one["file"] else f"default{name}"
    return f"  # {where}"
