"""Edits TOML text: one key at a time, every other byte stays."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.edits.changes import CannotEdit, Change, Move, Remove, Set
from skyrl_doctor.plan.syntax.leaf import dotted
from skyrl_doctor.plan.syntax.toml_places import Position, find_positions

_PART = r"(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')"
_KEY = re.compile(rf"[ \t]*(?P<key>{_PART}(?:[ \t]*\.[ \t]*{_PART})*)[ \t]*=[ \t]*")
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@record
class Pair:
    """A `key = value` on lines of its own: the lines from `start` to `end`, the spans of the key and the value."""

    start: int
    end: int
    key: tuple[int, int]
    value: tuple[int, int]


def edited(text: str, changes: tuple[Change, ...]) -> str:
    """The text with these changes. Raises CannotEdit."""
    moves = {change.key: change.to for change in changes if isinstance(change, Move)}
    text = _moved(text, moves)
    for change in changes:
        if isinstance(change, Remove):
            pair = _pair(text, change.key)
            text = text[: pair.start] + text[pair.end :]
        elif isinstance(change, Set):
            text = _set(text, change.key, change.value)
    return text


def literal(value: str, old: str = "") -> str:
    """A setting as TOML writes it. Settings are plain texts; `old` is the literal that it replaces."""
    try:
        parsed = tomllib.loads(f"x = {value}")["x"]
    except tomllib.TOMLDecodeError:
        return json.dumps(value, ensure_ascii=False)
    is_text = old[:1] in ("'", '"') and not isinstance(parsed, str | dict | list)
    return json.dumps(value, ensure_ascii=False) if is_text else value


def _positions(text: str) -> dict[str, Position]:
    return {dotted(path): position for path, position in find_positions(text).items()}


def _set(text: str, key: str, value: str) -> str:
    found = _positions(text).get(key)
    if found is None:
        return _added(text, key, f"{_name(key)} = {literal(value)}")
    start, end = found.span
    if _is_header(text, found):
        raise CannotEdit(f"[{key}] is a table; change it by hand")
    return text[:start] + literal(value, text[start:end]) + text[end:]


def _added(text: str, key: str, line: str) -> str:
    """Adds `name = value` to its table: under the table's header, beside a key of it, or with a new header."""
    table = key.rpartition(".")[0]
    positions = _positions(text)
    found = positions.get(table)
    if not table:
        return _on_top(text, line)
    if found is not None and _is_header(text, found):
        at = _last_line(text, found)
        gap = "" if text[:at].endswith("\n") else "\n"
        return f"{text[:at]}{gap}{line}\n{text[at:]}"
    if found is not None:
        return _in_braces(text, found.span, line)
    beside = _beside(text, positions, table)
    if beside is not None:
        key_text = text[slice(*beside.key)]
        name, rest = line.split(" = ", 1)
        made = f"{text[beside.start : beside.key[0]]}{key_text.rpartition('.')[0]}.{name} = {rest}\n"
        return text[: beside.end] + made + text[beside.end :]
    if "[" in table:
        raise CannotEdit(f"add it by hand: the file has no {table}")
    return _with_table(text, len(text), table, [line])


def _last_line(text: str, header: Position) -> int:
    """The end of the last pair below a header, or of the header's own line."""
    end = _section_end(text, header.span[1])
    pairs = [pair.end for pair in _pairs(text, _positions(text)) if header.span[1] <= pair.start < end]
    return max(pairs, default=_line_end(text, header.span[1]))


def _on_top(text: str, line: str) -> str:
    """Adds a key that has no table: below the last such key, or before the first table with its comments."""
    headers = _headers(text)
    first = text.rfind("\n", 0, headers[0]) + 1 if headers else len(text)
    before = [pair for pair in _pairs(text, _positions(text)) if pair.start < first]
    if before:
        at = max(pair.end for pair in before)
        return text[:at] + ("" if text[:at].endswith("\n") else "\n") + f"{line}\n" + text[at:]
    while (start := text.rfind("\n", 0, max(first - 1, 0)) + 1) < first and text.startswith("#", start):
        first = start
    return f"{text[:first]}{line}\n\n{text[first:]}"


def _in_braces(text: str, span: tuple[int, int], line: str) -> str:
    inner = text[span[0] + 1 : span[1] - 1]
    if text[span[0]] != "{" or "\n" in inner:
        raise CannotEdit("its table is not one that this command can add to; edit it by hand")
    body = f"{inner.rstrip()}, {line}" if inner.strip() else f" {line}"
    return f"{text[: span[0]]}{{{body} }}{text[span[1] :]}"


def _beside(text: str, positions: Mapping[str, Position], table: str) -> Pair | None:
    """A key of the table that is written with dots, such as `b.c` in [a]."""
    for key in positions:
        if key.rpartition(".")[0] == table:
            try:
                pair = _pair(text, key)
            except CannotEdit:
                return None
            return pair if "." in text[slice(*pair.key)] else None
    return None


def _with_table(text: str, at: int, table: str, lines: list[str]) -> str:
    """Inserts a table with its header at a line start or at the end."""
    head, tail = text[:at], text[at:]
    if head and not head.endswith("\n"):
        head += "\n"
    gap = "\n" if head and not head.endswith("\n\n") else ""
    body = "".join(f"{line}\n" for line in (f"[{table}]", *lines))
    return head + gap + body + ("\n" if tail and not tail.startswith("\n") else "") + tail


def _moved(text: str, moves: Mapping[str, str]) -> str:
    """The text with keys renamed or moved. If all keys of a header go to one new table, the header is renamed."""
    moves = dict(moves)
    for start in reversed(_headers(text)):
        keys = _keys_of_section(text, start)
        tables = {moves.get(key, "").rpartition(".")[0] for key in keys}
        table = next(iter(tables), "")
        if len(tables) == 1 and table and not _has(text, table) and not text.startswith("[[", start):
            end = text.index("]", start) + 1
            text = f"{text[:start]}[{table}]{text[end:]}"
            moves = {f"{table}.{key.rpartition('.')[2]}" if key in keys else key: to for key, to in moves.items()}
    for old, new in moves.items():
        found = _positions(text).get(old)
        if old == new:
            continue
        if found is not None and _is_header(text, found):
            text = _with_new_header(text, old, new)
        else:
            text = _moved_pair(text, old, new)
    return text


def _keys_of_section(text: str, start: int) -> set[str]:
    """The keys on the lines below a header, up to the next one."""
    end = _section_end(text, _line_end(text, start))
    inside = {key: found for key, found in _positions(text).items() if start < found.span[0] < end}
    return {key for key, found in inside.items() if not _is_header(text, found) and _pair_at(text, found) is not None}


def _has(text: str, table: str) -> bool:
    return any(key == table or key.startswith((f"{table}.", f"{table}[")) for key in _positions(text))


def _with_new_header(text: str, old: str, new: str) -> str:
    """Renames the headers [old] and [old.…]."""
    positions = _positions(text)
    if _has(text, new):
        raise CannotEdit(f"the file already has {new}; merge [{old}] into it by hand")
    headers = {
        position.span: key
        for key, position in positions.items()
        if (key == old or key.startswith(f"{old}.")) and _is_header(text, position)
    }
    for span in sorted(headers, reverse=True):
        key = headers[span]
        if "[" in key or text.startswith("[[", span[0]):
            raise CannotEdit(f"[[{old}]] is a list of tables; move it by hand")
        text = f"{text[: span[0]]}[{new}{key[len(old) :]}]{text[span[1] :]}"
    return text


def _moved_pair(text: str, old: str, new: str) -> str:
    pair = _pair(text, old)
    if new in _positions(text):
        raise CannotEdit(f"the file already has {new}; remove {old} by hand")
    key_text = text[slice(*pair.key)]
    if old.rpartition(".")[0] == new.rpartition(".")[0]:
        head = key_text.rpartition(".")
        return f"{text[: pair.key[0]]}{head[0]}{head[1]}{_name(new)}{text[pair.key[1] :]}"
    line = f"{_name(new)} = {text[pair.value[0] : pair.end]}".rstrip("\n")
    home = _home(text, pair.start)
    left = text[: pair.start] + text[pair.end :]
    table = new.rpartition(".")[0]
    if table and table not in _positions(left) and _beside(left, _positions(left), table) is None and "[" not in table:
        made = _with_table(left, _section_end(left, pair.start), table, [line])
    else:
        made = _added(left, new, line)
    return _without_empty_header(made, home)


def _home(text: str, at: int) -> str | None:
    """The header line above an offset."""
    above = [start for start in _headers(text) if start <= at]
    return text[text.rfind("\n", 0, above[-1]) + 1 : _line_end(text, above[-1])] if above else None


def _without_empty_header(text: str, header: str | None) -> str:
    """Removes the header from which the last key was moved away. Comments and blank lines stay."""
    if header is None or header.lstrip().startswith("[["):
        return text
    start = next((at for at in _line_starts(text) if text.startswith(header, at)), None)
    if start is None:
        return text
    end = _line_end(text, start)
    if any(end <= pair.start < _section_end(text, end) for pair in _pairs(text, _positions(text))):
        return text
    return text[:start] + text[end:]


def _section_end(text: str, at: int) -> int:
    """The start of the next header's line, or the end of the text."""
    found = next((start for start in _headers(text) if start >= at), None)
    return len(text) if found is None else text.rfind("\n", 0, found) + 1


def _headers(text: str) -> list[int]:
    """The offsets of all headers, in order."""
    positions = find_positions(text).values()
    return sorted({position.span[0] for position in positions if _is_header(text, position)})


def _pair(text: str, key: str) -> Pair:
    """The pair of a key. Raises CannotEdit if other keys share its lines."""
    found = _positions(text).get(key)
    if found is None:
        raise CannotEdit(f"the file has no line for {key}; edit it by hand")
    pair = None if _is_header(text, found) else _pair_at(text, found)
    if pair is None:
        raise CannotEdit(f"other keys share the line of {key}; edit it by hand")
    return pair


def _pair_at(text: str, position: Position) -> Pair | None:
    value_start, value_end = position.span
    start = text.rfind("\n", 0, value_start) + 1
    key, rest = _KEY.fullmatch(text, start, value_start), _REST.match(text, value_end)
    if key is None or rest is None or (rest.end() < len(text) and text[rest.end()] != "\n"):
        return None
    return Pair(start, min(rest.end() + 1, len(text)), key.span("key"), position.span)


def _pairs(text: str, positions: Mapping[str, Position]) -> Iterator[Pair]:
    for position in positions.values():
        if not _is_header(text, position) and (pair := _pair_at(text, position)) is not None:
            yield pair


def _is_header(text: str, position: Position) -> bool:
    """Whether the position is a table's header, and not a value."""
    start = position.span[0]
    line = text.rfind("\n", 0, start) + 1
    return text.startswith("[", start) and not text[line:start].strip(" \t") and not _in_list(text, start)


def _in_list(text: str, start: int) -> bool:
    """Whether a bracket at a line start continues a list of lists."""
    end = _line_end(text, start)
    try:
        tomllib.loads(text[start:end])
    except tomllib.TOMLDecodeError:
        return True
    return False


def _name(key: str) -> str:
    name = key.rpartition(".")[2]
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _line_starts(text: str) -> Iterator[int]:
    at = 0
    while at < len(text):
        yield at
        at = _line_end(text, at)


def _line_end(text: str, at: int) -> int:
    """The start of the next line."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1
