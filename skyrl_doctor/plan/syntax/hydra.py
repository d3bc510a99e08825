"""Hydra's override grammar: `a.b=c`, `+a.b=[1,2]`, `++a={x:1}`, `~a`, and the values on the right.

Importing Hydra's own parser takes half a second; the verl lane compares this one with it.
"""

import re
from typing import Any

from skyrl_doctor.core.record import record

_OVERRIDE = re.compile(
    r"(?P<mode>\+\+|\+|~)?(?P<key>[A-Za-z0-9_$][\w.$/\-]*)(?:@(?P<package>[\w.:\-]*))?(?:=(?P<value>.*))?", re.DOTALL
)
_INT = re.compile(r"[+-]?(?:0|[1-9](?:_?[0-9])*)")
_FLOAT = re.compile(
    r"[+-]?(?:(?:(?:0|[1-9](?:_?[0-9])*)?\.[0-9](?:_?[0-9])*|(?:0|[1-9](?:_?[0-9])*)\.)(?:[eE][+-]?[0-9](?:_?[0-9])*)?"
    r"|(?:0|[1-9](?:_?[0-9])*)[eE][+-]?[0-9](?:_?[0-9])*|inf|nan)",
    re.IGNORECASE,
)
_FUNCTION = re.compile(r"[A-Za-z_]\w*\(")
_QUOTES = ("'", '"')
_ESCAPED = re.compile(r"\\[\\()\[\]{}:=, \t]")
_PLAIN = re.compile(r"[A-Za-z0-9_/\-\\+.$%*@?|:, \t]")
MAX_DEPTH = 40


class OverrideError(ValueError):
    """Hydra would refuse this text, for the reason in the message."""


@record
class Override:
    """One override. `mode` is "", "+", "++" or "~"; `package` the part after @ of a config group."""

    key: str
    value: Any
    mode: str = ""
    package: str | None = None
    has_value: bool = True


def looks_like_override(text: str) -> bool:
    """Whether a word has the form of an override: `a.b=…`, `+a=…`, `~a`."""
    found = _OVERRIDE.fullmatch(text)
    return found is not None and (found["value"] is not None or found["mode"] == "~")


def parse(text: str) -> Override:
    """Parses an override. Raises OverrideError."""
    found = _OVERRIDE.fullmatch(text)
    if found is None or (found["value"] is None and found["mode"] != "~"):
        raise OverrideError("expected KEY=VALUE")
    if found["value"] is None:
        return Override(found["key"], None, "~", found["package"], has_value=False)
    return Override(found["key"], parse_value(found["value"]), found["mode"] or "", found["package"])


def parse_value(text: str) -> Any:
    """Parses a value: a list, a table, a quoted or a plain string. Nothing is an empty string."""
    reader = _Reader(text)
    value = reader.value(top=True)
    if reader.at < len(text):
        raise OverrideError(f"{text[reader.at :][:20]!r} is unexpected; quote a value that has commas or brackets")
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0
        self._depth = 0

    def value(self, *, top: bool = False) -> Any:
        self._skip()
        first = self._text[self.at : self.at + 1]
        if first in ("[", "{"):
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise OverrideError("nested too deeply")
            made: Any = self._list() if first == "[" else self._table()
            self._depth -= 1
        elif first in _QUOTES:
            made = self._quoted(first)
        else:
            return self._plain(top=top)
        self._skip()
        return made

    def _list(self) -> list[Any]:
        items: list[Any] = []
        self.at += 1
        while True:
            self._skip()
            if self._skip_if("]"):
                return items
            if items and not self._skip_if(","):
                raise OverrideError("a list has no closing ]")
            items.append(self.value())

    def _table(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        self.at += 1
        while True:
            self._skip()
            if self._skip_if("}"):
                return made
            if made and not self._skip_if(","):
                raise OverrideError("a table has no closing }")
            self._skip()
            first = self._text[self.at : self.at + 1]
            name = self._quoted(first) if first in _QUOTES else self._plain(top=False, ends=":")
            self._skip()
            if not self._skip_if(":"):
                raise OverrideError("a table needs NAME: VALUE")
            made[str(name)] = self.value()

    def _quoted(self, quote: str) -> str:
        start = self.at + 1
        at = start
        while at < len(self._text) and self._text[at] != quote:
            at += 2 if self._text[at] == "\\" else 1
        if at >= len(self._text):
            raise OverrideError(f"a quote {quote} is not closed")
        self.at = at + 1
        # pairs of backslashes are escapes only before a quote or the end
        return re.sub(rf"(\\+)({quote}|\Z)", lambda run: "\\" * (len(run[1]) // 2) + run[2], self._text[start:at])

    def _plain(self, *, top: bool, ends: str = "") -> Any:
        start, is_sweep = self.at, False
        stops = "[]{}" + "'\"" if top else ",[]{}'\"" + ends
        while self.at < len(self._text) and self._text[self.at] not in stops:
            if _ESCAPED.match(self._text, self.at):
                self.at += 2
            elif self._text.startswith("$", self.at) and self._text.startswith("${", self.at):
                self._interpolation()
            elif not _PLAIN.match(self._text, self.at):
                raise OverrideError(f"{self._text[self.at]!r} needs quotes around the value")
            else:
                is_sweep = is_sweep or self._text[self.at] == ","
                self.at += 1
        text = self._text[start : self.at].strip(" \t")
        if not text and not top:
            raise OverrideError("a value is missing")
        if is_sweep:
            raise OverrideError("several values are a sweep; quote a single value that has a comma")
        return _primitive(text)

    def _interpolation(self) -> None:
        depth = 0
        while self.at < len(self._text):
            if self._text.startswith("${", self.at):
                depth += 1
                self.at += 2
                continue
            if self._text[self.at] == "}":
                depth -= 1
                if depth == 0:
                    self.at += 1
                    return
            self.at += 1
        raise OverrideError("an interpolation has no closing }")

    def _skip_if(self, text: str) -> bool:
        if not self._text.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def _skip(self) -> None:
        while self._text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1


def _primitive(text: str) -> Any:
    lower = text.lower()
    if lower == "null":
        return None
    if lower in ("true", "false"):
        return lower == "true"
    if _INT.fullmatch(text) and len(text) < 400:
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _FUNCTION.match(text):
        raise OverrideError(f"{text[:40]!r} is a sweep or a cast")
    return re.sub(r"\\([\\()\[\]{}:=, \t])", r"\1", text)
