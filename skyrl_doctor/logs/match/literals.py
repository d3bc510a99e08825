"""Literal texts of which every match of a pattern holds at least one: they are searched for before the pattern is tried."""

import re
from collections.abc import Iterator
from re import _constants as constants  # type: ignore[attr-defined]  # the parser of `re` has no public name
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_SHORTEST = 3


def literals(pattern: str) -> frozenset[str]:
    """Texts of which each match holds one; empty where no text of three letters or more is certain."""
    parsed = _parsed(pattern)
    return max(_certain(parsed), key=_worth, default=frozenset()) if parsed else frozenset()


def split_branches(pattern: str) -> list[str]:
    """The alternatives of a pattern."""
    found, depth, start, within = [], 0, 0, False
    for token in re.finditer(r"\\.|\[\^?\]?|[\](|)]", pattern):
        text = token[0]
        if within:
            within = text != "]"
        elif text.startswith("["):
            within = True
        elif text in "()":
            depth += 1 if text == "(" else -1
        elif text == "|" and depth == 0:
            found.append(pattern[start : token.start()])
            start = token.end()
    return [*found, pattern[start:]]


def alternatives(pattern: str) -> list[list[frozenset[str]]]:
    """For each alternative the sets of texts of which each match holds one. Short texts count too."""
    parsed = _parsed(pattern)
    if not parsed:
        return [[]]
    if len(parsed) == 1 and parsed[0][0] is constants.BRANCH:
        return [list(_certain(branch, shortest=1)) for branch in parsed[0][1][1]]
    return [list(_certain(parsed, shortest=1))]


def _parsed(pattern: str) -> Any:
    parsed = parser.parse(pattern)
    return None if parsed.state.flags & re.IGNORECASE else parsed


def _worth(texts: frozenset[str]) -> tuple[int, int]:
    return (min(map(len, texts)), -len(texts))


def _certain(parts: Any, shortest: int = _SHORTEST) -> Iterator[frozenset[str]]:
    """Yield sets of texts; each match holds a text of each set."""
    run = ""
    for kind, value in [*parts, (None, None)]:
        if kind is constants.LITERAL:
            run += chr(value)
            continue
        if len(run) >= shortest:
            yield frozenset({run})
        run = ""
        if kind is constants.SUBPATTERN and not value[1] & re.IGNORECASE:
            yield from _certain(value[3], shortest)
        elif kind in (constants.MAX_REPEAT, constants.MIN_REPEAT) and value[0] > 0:
            yield from _certain(value[2], shortest)
        elif kind is constants.BRANCH:
            best = [max(_certain(branch, shortest), key=_worth, default=frozenset[str]()) for branch in value[1]]
            if all(best):
                yield frozenset().union(*best)
