"""The reference of a RunConfig: each key with its names in the frameworks and the checks that read it."""

import ast
import importlib
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from skyrl_doctor.core.check import Check
from skyrl_doctor.plan.keys import key_in
from skyrl_train.config.other_names import their_name
from skyrl_train.config.reference import Setting, settings, tables

FRAMEWORKS = ("verl", "skyrl", "prime-rl")
_RULES, _FACTS = ("skyrl_train.config.", "skyrl_doctor.plan.training"), "skyrl_doctor.facts."


def read_by(modules: Mapping[str, str], checks: Sequence[Check]) -> dict[str, list[str]]:
    """The ids of the failures that read each key, by the module of each id.

    A key is read if the check's file names it, or a rule that the check imports, or the fact that it
    takes, or a signature of the failure.
    """
    known = {one.key for one in settings() if "." in one.key}
    taken = {check.id: {need.kind.__module__ for need in check.needs} for check in checks}
    found: dict[str, set[str]] = {}
    for id_, module in modules.items():
        names = {module, *_rules(module), *(name for name in taken.get(id_, ()) if name.startswith(_FACTS))}
        for key in known & {text for name in names for text in _strings(name)}:
            found.setdefault(key, set()).add(id_)
    return {key: sorted(found[key]) for key in sorted(found)}


def names() -> dict[str, dict[str, str]]:
    """The name of each key in each framework that has it."""
    found = {one.key: _names(one.key) for one in settings()}
    return {key: found[key] for key in sorted(found) if found[key]}


def _names(key: str) -> dict[str, str]:
    named = ((framework, key_in(framework, key) or their_name(framework, key)) for framework in FRAMEWORKS)
    return {framework: name for framework, name in named if name is not None}


def json_text(found: Mapping[str, object]) -> str:
    return json.dumps(found, indent=1) + "\n"


def page(found: Mapping[str, list[str]]) -> Iterator[str]:
    """The lines of docs/run-config.md."""
    about = tables()
    yield from _HEAD
    for table, group in groupby(settings(), key=lambda one: one.table):
        yield from ("", f"## [{table}]", "", about[table], "")
        yield from ("| Key | Type | Default | Meaning | In other frameworks | Checks |", "|---|---|---|---|---|---|")
        yield from (_row(one, found.get(one.key, [])) for one in group)


_HEAD = (
    "# Settings of a run",
    "",
    "Every key of a `run.toml`. `skyrl-train config explain KEY` prints one of them, and takes a key of verl, SkyRL or",
    "prime-rl too.",
    "",
    "```console",
    "$ skyrl-train config defaults > run.toml       # every key with its default, as comments",
    "$ skyrl-train init --from train.sh             # or begin with a script of verl or SkyRL, or a TOML of prime-rl",
    "$ skyrl-train config schema > run_config.schema.json",
    "```",
    "",
    "The [JSON Schema](run_config.schema.json) lets an editor complete keys and mark mistakes. In VS Code, install *Even",
    "Better TOML* and begin the file with `#:schema ./run_config.schema.json`. On a command line, `taplo lint run.toml`",
    "checks the file against the same line. The doctor's own keys (`[waivers]`) are allowed too.",
)


def _row(one: Setting, checks: Sequence[str]) -> str:
    name = one.key.partition(".")[2] or one.key
    kind = ", ".join(filter(None, (one.kind, one.limits)))
    default = "**must be set**" if one.is_required else f"`{one.default}`" if one.default else ""
    theirs = (f"{framework}: `{key}`" for framework, key in _names(one.key).items())
    links = " ".join(f"[{id_}](checks/{id_}.md)" for id_ in checks)
    cells = (f"`{name}`", _cell(kind), _cell(default), _cell(one.meaning), "<br>".join(theirs), links)
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Text in a cell of a table; code stays code."""
    parts = text.replace("|", "\\|").split("`")
    return "`".join(part if at % 2 else part.replace("<", "&lt;") for at, part in enumerate(parts))


def _rules(module: str) -> Iterator[str]:
    """The modules with rules that a check imports."""
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_RULES):
            yield str(node.module)


def _strings(module: str) -> Iterator[str]:
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(importlib.import_module(module)))
