"""The keys of one program, as a tree: whether it takes a key, and whether a value can be right for it."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skyrl_doctor.plan.schemas.bounds import NUMBERS, describe, holds, plain
from skyrl_doctor.plan.schemas.classes import ANY, LIST, TABLE

_INDEX = re.compile(r"\[\d+\]")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|nan)", re.IGNORECASE)


@dataclass(slots=True)
class _Node:
    words: frozenset[str] = frozenset()
    children: "dict[str, _Node]" = field(default_factory=dict)


class Schema:
    """The keys of one program in one version."""

    def __init__(self, keys: Mapping[str, str]) -> None:
        self.keys = keys
        self._root = _Node()
        for key, words in keys.items():
            node = self._root
            for part in key.split("."):
                node = node.children.setdefault(part, _Node())
            node.words = frozenset(words.split("|"))

    def type_of(self, key: str) -> frozenset[str] | None:
        """The words of a key's type; None for an unknown key. Below a table of unknown keys everything is `any`."""
        node = self._root
        for part in normal(key).split("."):
            inner = node.children.get(part) or node.children.get("*")
            if inner is None:
                return frozenset({ANY}) if node is not self._root and ANY in node.words else None
            node = inner
        return node.words

    def names_first(self, key: str) -> bool:
        """Whether the schema names the first part of a key, rather than take any name there."""
        return re.split(r"[.\[]", normal(key), maxsplit=1)[0] in self._root.children

    def why_wrong(self, key: str, value: Any) -> str | None:
        """What is expected, if a written value cannot be right; else None."""
        words = self.type_of(key)
        if not words or words & {ANY, "str"} or any(word.startswith("@") for word in words):
            return None
        if isinstance(value, str):
            return _why_no_text(value, words)
        if isinstance(value, dict | list):
            is_right = (TABLE if isinstance(value, dict) else LIST) in words
            return None if is_right or TABLE in words else f"expected {_choices(words)}"
        return _why_no_number(value, words)

    def closest_word(self, key: str, value: object) -> str | None:
        """The word of a key's choices, in quotes, that is most similar to a value."""
        words = [word.strip("'") for word in self.type_of(key) or () if word.startswith("'")]
        import difflib  # imported late: only a wrong value needs it

        similar = difflib.get_close_matches(value, words, n=1, cutoff=0.8) if isinstance(value, str) else []
        return f"'{similar[0]}'" if similar else None

    def closest(self, key: str) -> str | None:
        """The known key beside it that is most similar, such as a misspelt one."""
        parent, _, name = normal(key).rpartition(".")
        beside = {one.rpartition(".")[2]: one for one in self.keys if one.rpartition(".")[0] == parent}
        import difflib  # imported late: only unknown keys need it

        similar = difflib.get_close_matches(name, beside, n=1, cutoff=0.8)
        return beside[similar[0]] if similar else None


def normal(key: str) -> str:
    """A key of a file as the schema writes it: without indexes, with underscores."""
    return _INDEX.sub("[]", key).replace("-", "_")


def _why_no_text(value: str, words: frozenset[str]) -> str | None:
    if repr(value) in words or (value.lower() in ("none", "null") and "none" in words):
        return None
    number = value.replace("_", "")
    if any(plain(word) in NUMBERS for word in words) and _NUMBER.fullmatch(number):
        return _why_no_number(float(number), words)
    if "bool" in words and value.lower() in ("true", "false", "1", "0", "yes", "no", "on", "off", "t", "f", "y", "n"):
        return None
    if words & {TABLE, LIST}:  # a program may read the text of a table
        return None
    return f"expected {_choices(words)}"


def _why_no_number(value: Any, words: frozenset[str]) -> str | None:
    """What is expected of a number that lies outside all bounds. Where the type has no number, nothing is known of it."""
    numbers = [word for word in words if plain(word) in NUMBERS]
    if not numbers or isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if words & {TABLE, LIST} or repr(value) in words or ("bool" in words and value in (0, 1)):
        return None
    return None if any(holds(word, value) for word in numbers) else f"expected {_choices(words)}"


def _choices(words: frozenset[str]) -> str:
    named = {
        "int": "a whole number",
        "float": "a number",
        "bool": "true or false",
        "none": "nothing",
        TABLE: "a table",
        LIST: "a list",
    }
    texts = (f"{named.get(plain(word), word)}{describe(word)}" for word in sorted(words) if word != "none")
    return " or ".join(texts) or "nothing"
