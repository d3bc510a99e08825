"""Edits the user's file for a remedy's settings: replaces one value or adds one line, nothing else.

`propose` returns the new text of each file, `diff` renders it. A setting without a certain place is returned with a reason.
"""

import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping

from skyrl_doctor.core.model import Finding, RemedyKind
from skyrl_doctor.core.record import record
from skyrl_doctor.plan.model import Plan, Value
from skyrl_doctor.plan.source import COMMAND_LINE


@record
class Proposal:
    """A file, its text before and after, and the settings that were not applied, each with the reason."""

    file: str
    old: str
    new: str
    left: tuple[str, ...] = ()


@record
class Change:
    """Replaces the characters from `start` to `end` by `text`."""

    start: int
    end: int
    text: str


def propose(plan: Plan, findings: Iterable[Finding], texts: Mapping[str, str]) -> tuple[Proposal, ...]:
    """The targets with the settings of these findings applied. `texts` are the files that the plan was read from.

    If two findings set one key to different values, the first counts.
    """
    changes: dict[str, dict[str, Change]] = {file: {} for file in texts}
    left: dict[str, list[str]] = {file: [] for file in texts}
    for key, value, file in _settings(findings, plan):
        if file not in texts or key in changes[file]:
            continue
        made = _change(plan, key, value, texts[file], file)
        if isinstance(made, Change):
            changes[file][key] = made
        else:
            left[file].append(f"{key} = {value}: {made}")
    return tuple(
        Proposal(file, text, _apply(text, changes[file].values()), tuple(left[file])) for file, text in texts.items()
    )


def diff(proposal: Proposal) -> str:
    """The proposal as a unified diff; empty if nothing changes."""
    old, new = (text.splitlines(keepends=True) for text in (proposal.old, proposal.new))
    lines = difflib.unified_diff(old, new, f"a/{proposal.file.lstrip('/')}", f"b/{proposal.file.lstrip('/')}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _settings(findings: Iterable[Finding], plan: Plan) -> Iterable[tuple[str, str, str]]:
    for finding in findings:
        remedy = finding.remedy
        if remedy is None or remedy.kind is not RemedyKind.FIX_CONFIG:
            continue
        for key, value in remedy.settings.items():
            written = plan.own.get(key)
            place = (written.location if written else None) or finding.location
            yield key, value, place.file if place else ""


def _change(plan: Plan, key: str, value: str, text: str, file: str) -> Change | str:
    """The change, or the reason why the user must edit by hand."""
    if file == COMMAND_LINE:
        return "edit the command line by hand"
    found = plan.own.get(key)
    if found is None or found.location is None or found.location.file != file or found.span is None:
        return _addition(plan, key, value, text, file)
    if _is_shell(plan, found):
        return _in_shell(found, value, text)
    return Change(*found.span, _literal(value, found.value, file))


def _in_shell(found: Value, value: str, text: str) -> Change | str:
    """The change in a shell script. Spans are byte offsets there, and a word may include the key."""
    if not text.isascii() or "\r" in text or found.span is None:
        return "edit the line by hand: the file has non-ASCII letters or Windows line ends"
    start, end = found.span
    word = text[start:end]
    if word.startswith(f"{found.own}="):
        return Change(start, end, f"{found.own}={value}")
    if "=" not in word and "$" not in word:
        quote = word[0] if word[:1] in ("'", '"') else ""
        return Change(start, end, f"{quote}{value}{quote}")
    return f"edit it by hand: the file has {word}"


def _addition(plan: Plan, key: str, value: str, text: str, file: str) -> Change | str:
    """Adds a line for a missing key: under the header of its table, or before another key of the table."""
    table, _, name = key.rpartition(".")
    if file.endswith((".yaml", ".yml")):
        sibling = next((one for own, one in plan.own.items() if own.rpartition(".")[0] == table and table), None)
        if sibling is None or sibling.span is None or sibling.location is None or sibling.location.file != file:
            return f"add it by hand: {file} has no other key of {table or 'the top level'}"
        start = text.rfind("\n", 0, sibling.span[0]) + 1
        indent = text[start : len(text) - len(text[start:].lstrip(" "))]
        return Change(start, start, f"{indent}{name}: {value}\n")
    if not file.endswith(".toml") or "[" in key or not table:
        return f"add it by hand: {key} is not in {file}"
    line = f"{name} = {_literal(value, None, file)}\n"
    header = plan.own.get(table)
    if header is None or header.location is None or header.location.file != file or header.span is None:
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        return Change(len(text), len(text), f"{gap}[{table}]\n{line}")
    if not text.startswith("[", header.span[0]):
        return f"add it by hand: {file} has no [{table}] header"
    after = text.find("\n", header.span[1]) + 1
    return Change(after, after, line) if after else Change(len(text), len(text), f"\n{line}")


def _literal(value: str, old: object, file: str) -> str:
    """A setting as the file format writes it. Settings are strings; TOML needs quotes for strings."""
    if not file.endswith(".toml"):
        return value
    try:
        parsed = tomllib.loads(f"x = {value}")["x"]
    except tomllib.TOMLDecodeError:
        return json.dumps(value, ensure_ascii=False)
    is_text = isinstance(old, str) and not isinstance(parsed, str | dict | list)
    return json.dumps(value, ensure_ascii=False) if is_text else value


def _is_shell(plan: Plan, found: Value) -> bool:
    file = found.location.file if found.location else ""
    return not file.endswith((".toml", ".yaml", ".yml")) and plan.is_of("verl", "skyrl-agent")


def _apply(text: str, changes: Iterable[Change]) -> str:
    """Applies changes from the end, so that earlier offsets stay valid."""
    for change in sorted(changes, key=lambda one: (one.start, one.end), reverse=True):
        text = text[: change.start] + change.text + text[change.end :]
    return text
