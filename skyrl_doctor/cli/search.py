"""Finds failures by words: of their name, of their page, and of the log lines by which they are recognised."""

import importlib
import re
from collections.abc import Sequence
from typing import Any

from skyrl_doctor.core.record import record

_WORD = re.compile(r"[\w.:/+-]+")
_SAME = {
    "oom": ("oom", "out of memory", "outofmemory", "memory too small", "too little memory", "not fit on the GPU"),
    "hang": ("hang", "stall", "stuck"),
    "login": ("login", "log in"),
}
"""Words that users search for, and how pages and programs write them."""
_NAME, _SUMMARY, _PAGE, _LOG = 8, 4, 2, 1


@record
class Searchable:
    """The texts of one failure, the telling ones first."""

    name: str
    summary: str
    page: str
    lines: str

    def score(self, word: str) -> int:
        """How well the word describes the failure; 0 if it does not appear."""
        pattern = re.compile("|".join(rf"\b{re.escape(same)}" for same in _SAME.get(word, (word,))), re.IGNORECASE)
        texts = ((self.name, _NAME), (self.summary, _SUMMARY), (self.page, _PAGE), (self.lines, _LOG))
        return sum(weight for text, weight in texts if pattern.search(text))


def find(known: Sequence[dict[str, Any]], words: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of `list` that have all words, the best first."""
    return [row for row, _ in _ranked(known, words)]


def find_one(known: Sequence[dict[str, Any]], words: Sequence[str]) -> list[dict[str, Any]]:
    """The same, but only those that have the words in their name or summary, if there are any."""
    ranked = _ranked(known, words)
    return [row for row, is_named in ranked if is_named] or [row for row, _ in ranked]


def _ranked(known: Sequence[dict[str, Any]], words: Sequence[str]) -> list[tuple[dict[str, Any], bool]]:
    """The matching rows, and whether each has all words in its name or summary."""
    text = " ".join(words).lower()
    for word, others in _SAME.items():
        text = re.sub(rf"\b(?:{'|'.join(map(re.escape, others))})\b", word, text)
    asked = _WORD.findall(text)
    scored = []
    for row in known:
        texts = _searchable(row)
        scores = [texts.score(word) for word in asked]
        if all(scores) and (asked or not words):
            scored.append((sum(scores), row, all(score >= _SUMMARY for score in scores)))
    return [(row, is_named) for _, row, is_named in sorted(scored, key=lambda one: -one[0])]


def _searchable(row: dict[str, Any]) -> Searchable:
    module = importlib.import_module(row["module"])
    samples = (signature.sample for signature in getattr(module, "SIGNATURES", ()))
    name = f"{row['id']} {row['slug']} {row['slug'].replace('-', ' ')}"
    return Searchable(name, row["summary"], module.__doc__ or "", "\n".join(samples))
