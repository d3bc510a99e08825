"""Edits YAML text: one key at a time, every other byte stays."""

import re

from skyrl_doctor.plan.edits.changes import CannotEdit, Change, Move, Remove, Set
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.leaf import Leaf
from skyrl_doctor.plan.syntax.yaml import leaves, scalar

_PLAIN = re.compile(r"[A-Za-z0-9_./+-][A-Za-z0-9_./+ -]*")


def edited(text: str, changes: tuple[Change, ...]) -> str:
    """The text with these changes. Raises CannotEdit."""
    for change in changes:
        match change:
            case Set(key, value):
                text = _set(text, key, value)
            case Move(key, to):
                text = _moved(text, key, to)
            case Remove(key):
                start, end = _line(text, _leaf(text, key))
                text = text[:start] + text[end:]
    return text


def literal(value: str, old: str = "") -> str:
    """A setting as YAML writes it, in the quotes of the old value if it has some."""
    quote = old[:1]
    if quote in ("'", '"') and quote not in value and "\\" not in value:
        return f"{quote}{value}{quote}"
    if value.startswith(("[", "{", "'", '"')) or _PLAIN.fullmatch(value):
        return value
    return "'" + value.replace("'", "''") + "'"


def _leaves(text: str) -> dict[str, Leaf]:
    return {leaf.key: leaf for leaf in leaves(Source("the file", text))}


def _leaf(text: str, key: str) -> Leaf:
    found = _leaves(text).get(key)
    if found is None or found.span is None:
        raise CannotEdit(f"the file has no line for {key}; edit it by hand")
    return found


def _set(text: str, key: str, value: str) -> str:
    found = _leaves(text).get(key)
    if found is None or found.span is None:
        return _added(text, key, value)
    start, end = found.span
    old = text[start:end]
    if found.is_table or "\n" in old or old[:1] in ("|", ">", "*", "&", "!"):
        raise CannotEdit(f"{key} is not a plain value; change it by hand")
    gap = " " if start == end and not text[:start].endswith((" ", "\t")) else ""
    return f"{text[:start]}{gap}{literal(value, old)}{text[end:]}"


def _added(text: str, key: str, value: str) -> str:
    """Adds a key above the first key of its table."""
    table, _, name = key.rpartition(".")
    siblings = [leaf for own, leaf in _leaves(text).items() if own.rpartition(".")[0] == table and leaf.span]
    if not siblings or "[" in key:
        raise CannotEdit(f"add it by hand: the file has no other key of {table or 'the top level'}")
    start, _ = _line(text, siblings[0])
    indent = text[start : len(text) - len(text[start:].lstrip(" "))]
    return f"{text[:start]}{indent}{name}: {literal(value)}\n{text[start:]}"


def _moved(text: str, key: str, to: str) -> str:
    found = _leaf(text, key)
    if to in _leaves(text):
        raise CannotEdit(f"the file already has {to}; remove {key} by hand")
    start, end = _line(text, found)
    if key.rpartition(".")[0] == to.rpartition(".")[0]:
        name = key.rpartition(".")[2]
        at = text.index(name, start)
        return text[:at] + to.rpartition(".")[2] + text[at + len(name) :]
    value = text[slice(*found.span)] if found.span else ""
    if found.is_table or "\n" in value:
        raise CannotEdit(f"{key} spans several lines; move it by hand")
    return _added(text[:start] + text[end:], to, value)


def _line(text: str, leaf: Leaf) -> tuple[int, int]:
    """The span of the line that holds one key and its value. Raises CannotEdit."""
    lines = text.splitlines(keepends=True)
    number = leaf.line or 1
    start = sum(map(len, lines[: number - 1]))
    line = lines[number - 1]
    name = re.match(r"[ ]*(?P<quote>['\"]?)(?P<name>[^'\":#{}\[\],]+)(?P=quote)[ ]*:(?:[ ]|$)", line)
    if name is None or str(_scalar(name["name"].strip())) != str(leaf.path[-1]):
        raise CannotEdit(f"other keys share the line of {leaf.key}; edit it by hand")
    return start, start + len(line)


def _scalar(text: str) -> object:
    try:
        return scalar(text)
    except ValueError:
        return text
