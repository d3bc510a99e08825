"""Finds the location of each key in valid TOML. tomllib has accepted the text, so nothing is checked here.

`tomllib.loads("x = " + text[start:end])["x"]` is the value of the key; a property test checks this.
"""

import re
import tomllib

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.syntax.leaf import Path

_SPACE = re.compile(r"[ \t\r\n]*(?:#[^\n]*[ \t\r\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[^,\]}#\n]*")
_STRINGS = (
    re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


@record
class Position:
    """A line, counted from 1, and the span of the value (of the header, for a table)."""

    line: int
    span: tuple[int, int]


def places(text: str) -> dict[Path, Position]:
    """Locations of values, tables, arrays of tables and their members, by path."""
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line, self._counted_to = 1, 0
        self._arrays: dict[Path, int] = {}
        self._found: dict[Path, Position] = {}

    def scan(self) -> dict[Path, Position]:
        table: Path = ()
        while self._skip() < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
        return self._found

    def _header(self) -> Path:
        start = self._at
        is_array = self._text.startswith("[[", start)
        self._at += 2 if is_array else 1
        keys = self._key()
        self._skip_blank()
        self._at += 2 if is_array else 1
        path = self._resolve(keys, is_array=is_array)
        if is_array:
            self._keep(path[:-1], start, self._at)
        self._keep(path, start, self._at)
        return path

    def _resolve(self, keys: Path, *, is_array: bool) -> Path:
        """Adds to a header's keys the index of the last member of each array of tables on the way."""
        path: Path = ()
        for position, key in enumerate(keys):
            path = (*path, key)
            if is_array and position == len(keys) - 1:
                self._arrays[path] = self._arrays.get(path, -1) + 1
            if path in self._arrays:
                path = (*path, self._arrays[path])
        return path

    def _pair(self, table: Path) -> None:
        path = (*table, *self._key())
        self._skip_blank()
        self._at += 1  # the equals sign
        self._skip_blank()
        self._value(path)

    def _key(self) -> Path:
        keys: list[str] = []
        while True:
            self._skip_blank()
            keys.append(self._key_part())
            self._skip_blank()
            if not self._text.startswith(".", self._at):
                return tuple(keys)
            self._at += 1

    def _key_part(self) -> str:
        start = self._at
        if self._text[start : start + 1] in ("'", '"'):
            self._string()
            return str(tomllib.loads(f"x = {self._text[start : self._at]}")["x"])
        found = _BARE.match(self._text, start)
        self._at = found.end() if found else start + 1
        return self._text[start : self._at]

    def _value(self, path: Path) -> None:
        start = self._at
        first = self._text[start : start + 1]
        line = self._line_of(start)
        if first == "{":
            self._inline_table(path)
        elif first == "[":
            self._array(path)
        elif first in ("'", '"'):
            self._string()
        else:
            plain = _PLAIN.match(self._text, start)
            self._at = start + len(plain[0].rstrip(" \t\r")) if plain else start + 1
        self._found.setdefault(path, Position(line, (start, self._at)))

    def _inline_table(self, path: Path) -> None:
        self._at += 1
        while self._skip() < len(self._text) and self._text[self._at] != "}":
            if self._text[self._at] == ",":
                self._at += 1
            else:
                self._pair(path)
        self._at += 1

    def _array(self, path: Path) -> None:
        self._at += 1
        index = 0
        while self._skip() < len(self._text) and self._text[self._at] != "]":
            if self._text[self._at] == ",":
                self._at += 1
            else:
                self._value((*path, index))
                index += 1
        self._at += 1

    def _string(self) -> None:
        for pattern in _STRINGS:
            if found := pattern.match(self._text, self._at):
                self._at = found.end()
                return
        self._at += 1

    def _skip(self) -> int:
        """Skips white space, line ends and comments; returns the new position."""
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._at

    def _skip_blank(self) -> None:
        while self._text[self._at : self._at + 1] in (" ", "\t"):
            self._at += 1

    def _keep(self, path: Path, start: int, end: int) -> None:
        self._found.setdefault(path, Position(self._line_of(start), (start, end)))

    def _line_of(self, offset: int) -> int:
        """The line of an offset. Offsets come nearly in order, so counting from the last one is linear."""
        if offset < self._counted_to:
            return self._line - self._text.count("\n", offset, self._counted_to)
        self._line += self._text.count("\n", self._counted_to, offset)
        self._counted_to = offset
        return self._line
