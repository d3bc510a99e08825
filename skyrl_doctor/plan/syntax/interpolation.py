"""Resolves the OmegaConf interpolations that verl's configuration uses: `${a.b}`, `${.a}`, `${oc.select:a.b,0}`, `${oc.env:X,d}`."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from skyrl_doctor.plan.syntax.bounds import MAX_INTERPOLATIONS, MAX_LETTERS
from skyrl_doctor.plan.syntax.hydra import OverrideError, parse_value

MAX_STEPS = 30
_BRACKET = re.compile(r"\$\{|\}")
Find = Callable[[str], Any]


class UnresolvedError(ValueError):
    """The value is unknown, for the reason in the message."""


class MissingError(UnresolvedError):
    """The key does not exist."""


@dataclass(slots=True)
class Work:
    """What one value may still cost: interpolations that double need few steps each, and all memory together."""

    interpolations: int = MAX_INTERPOLATIONS
    letters: int = MAX_LETTERS


def resolve(
    text: str, *, key: str, find: Find, environ: Mapping[str, str], steps: int = MAX_STEPS, work: Work | None = None
) -> Any:
    """The value of a text with interpolations. `find` returns the raw value of a dotted key or raises MissingError."""
    if steps <= 0:
        raise UnresolvedError("its interpolations form a cycle")
    work = Work() if work is None else work
    work.interpolations -= 1
    work.letters -= len(text)
    if work.interpolations < 0 or work.letters < 0:
        raise UnresolvedError(f"more than {MAX_INTERPOLATIONS} interpolations or {MAX_LETTERS} letters")
    parts = list(_parts(text))
    resolver = _Resolver(key, find, environ, steps, work)
    if len(parts) == 1 and parts[0][0]:
        return resolver.value(parts[0][1])
    return "".join(str(resolver.value(part)) if is_code else part for is_code, part in parts)


class _Resolver:
    def __init__(self, key: str, find: Find, environ: Mapping[str, str], steps: int, work: Work) -> None:
        self._key = key
        self._find = find
        self._environ = environ
        self._steps = steps
        self._work = work

    def value(self, code: str) -> Any:
        code = self._inner(code).strip()
        name, colon, rest = code.partition(":")
        if not colon:
            return self._node(code)
        arguments = [part.strip() for part in _split(rest)]
        if name == "oc.select":
            return self._select(arguments)
        if name == "oc.env":
            return self._variable(arguments)
        raise UnresolvedError(f"unknown interpolation ${{{name}:…}}")

    def _select(self, arguments: list[str]) -> Any:
        try:
            found = self._node(arguments[0])
        except MissingError:
            found = None
        if found is None and len(arguments) > 1:
            return _literal(arguments[1])
        return found

    def _variable(self, arguments: list[str]) -> Any:
        if arguments[0] in self._environ:
            return self._environ[arguments[0]]
        if len(arguments) > 1:
            return _literal(arguments[1])
        raise UnresolvedError(f"{arguments[0]} is not set here")

    def _node(self, path: str) -> Any:
        absolute = _absolute(path, self._key)
        raw = self._find(absolute)
        if isinstance(raw, str) and "${" in raw:
            return resolve(
                raw,
                key=absolute,
                find=self._find,
                environ=self._environ,
                steps=self._steps - 1,
                work=self._work,
            )
        return raw

    def _inner(self, code: str) -> str:
        """Replaces the interpolations inside of an interpolation by their values."""
        if "${" not in code:
            return code
        if self._steps <= 1:
            raise UnresolvedError("its interpolations form a cycle")
        inner = _Resolver(self._key, self._find, self._environ, self._steps - 1, self._work)
        return "".join(_as_code(inner.value(part)) if is_code else part for is_code, part in _parts(code))


def _as_code(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def _literal(text: str) -> Any:
    try:
        return parse_value(text)
    except OverrideError:
        return text


def _absolute(path: str, key: str) -> str:
    """The absolute key: `.a` is in the table of the key, `..a` one level up."""
    dots = len(path) - len(path.lstrip("."))
    if dots == 0:
        return path
    parents = key.split(".")[:-dots]
    return ".".join([*parents, path[dots:]])


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """(is an interpolation, text) in order."""
    at = 0
    while at < len(text):
        start = text.find("${", at)
        if start < 0:
            yield False, text[at:]
            return
        if start > at:
            yield False, text[at:start]
        end = _end(text, start)
        yield True, text[start + 2 : end]
        at = end + 1


def _end(text: str, start: int) -> int:
    depth = 0
    for bracket in _BRACKET.finditer(text, start):
        depth += -1 if bracket[0] == "}" else 1
        if depth == 0:
            return bracket.start()
    raise UnresolvedError("an interpolation has no closing }")


def _split(text: str) -> list[str]:
    """Splits at commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
