"""Finds failures by words: of their name, of their page, of the log lines that show them, and of people who search."""

import functools
import importlib
import math
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_doctor.symptoms import SYMPTOMS

APART = "no failure is about this; pages that have these words are below"
_SENTENCE = re.compile(r"(?<=[.:!?])\s")
_WORD = re.compile(r"[\w.:/+'-]*\w")
SAME = {
    "oom": ("oom", "out of memory", "outofmemory", "memory too small", "too little memory", "not fit on the GPU"),
    "hang": ("hang", "hung", "stall", "stuck", "freeze", "freezes"),
    "login": ("login", "log in", "logged in"),
    "learn": ("learn", "improve", "converge"),
    "crash": ("crash", "crashes", "crashed"),
}
"""Words that users search for, and how pages, programs and other users write them."""
EMPTY = frozenset(
    [
        "a",
        "about",
        "after",
        "again",
        "all",
        "always",
        "am",
        "an",
        "any",
        "and",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "but",
        "by",
        "can",
        "can't",
        "cannot",
        "could",
        "did",
        "do",
        "does",
        "doesn't",
        "don't",
        "during",
        "every",
        "for",
        "from",
        "get",
        "gets",
        "getting",
        "got",
        "had",
        "has",
        "have",
        "help",
        "how",
        "i",
        "i'm",
        "if",
        "in",
        "into",
        "is",
        "isn't",
        "it",
        "its",
        "job",
        "jobs",
        "just",
        "keep",
        "keeps",
        "m",
        "me",
        "my",
        "no",
        "not",
        "of",
        "on",
        "or",
        "our",
        "run",
        "running",
        "runs",
        "says",
        "so",
        "some",
        "stay",
        "stays",
        "still",
        "t",
        "that",
        "the",
        "then",
        "there",
        "they",
        "this",
        "to",
        "training",
        "up",
        "very",
        "was",
        "we",
        "went",
        "were",
        "what",
        "when",
        "while",
        "why",
        "will",
        "with",
        "won't",
        "your",
    ]
)
"""Words that tell nothing about a failure. They count only where there are no others."""
ENDS = re.compile(r"(?<=\w{4})(?:ing|ed|s)$")
_NAME, _SUMMARY, _PAGE, _LOG = 8, 4, 2, 1
_MOST_WORDS = 24
_NEAREST = 5
_LEAST_SHARE = 0.6
"""Of the best score: what a nearest failure has at least."""


@record
class Searchable:
    """The texts of one failure, the telling ones first."""

    name: str
    symptoms: str
    summary: str
    page: str
    lines: str

    def score(self, word: str) -> int:
        """How well the word describes the failure; 0 if it does not appear."""
        pattern = _pattern(word)
        weighed = (
            (self.name, _NAME),
            (self.symptoms, _NAME),
            (self.summary, _SUMMARY),
            (self.page, _PAGE),
            (self.lines, _LOG),
        )
        return sum(weight for text, weight in weighed if pattern.search(text))


@record(kw_only=True)
class Hits:
    """The rows of `list` that match, the best first."""

    rows: tuple[dict[str, Any], ...] = ()
    named: tuple[dict[str, Any], ...] = ()
    """Those that have the words in their name, their symptoms or their summary; else those that have them in one sentence."""
    note: str = ""
    """Why these rows, if they do not have all words."""


def find(known: Sequence[dict[str, Any]], words: Sequence[str]) -> Hits:
    """The rows that have all telling words, or else the nearest ones."""
    if not words:
        return Hits(rows=tuple(known))
    asked = _telling(" ".join(words))
    if not asked:
        return Hits()
    texts = [searchable(row) for row in known]
    scored = [(tuple(text.score(word) for word in asked), row) for text, row in zip(texts, known, strict=True)]
    complete = [one for one in scored if all(one[0])]
    named = [one for one in complete if all(score >= _SUMMARY for score in one[0])]
    if complete:
        every = _ranked((sum(scores), row) for scores, row in complete)
        if named or len(asked) == 1:
            return Hits(rows=every, named=_ranked((sum(scores), row) for scores, row in named))
        together = {row["id"] for text, row in zip(texts, known, strict=True) if _in_one_line(asked, text)}
        about = tuple(row for row in every if row["id"] in together)
        in_name = any(score >= _NAME for scores, _ in complete for score in scores)
        return Hits(rows=every, named=about, note="" if about or in_name else APART)
    missing = [word for place, word in enumerate(asked) if not any(scores[place] for scores, _ in scored)]
    corrected = _corrected(missing, texts)
    if corrected:
        again = find(known, [corrected.get(word, word) for word in asked])
        read = ", ".join(f"{word!r} as {other!r}" for word, other in corrected.items())
        return Hits(rows=again.rows, named=again.named, note="; ".join(filter(None, (f"read {read}", again.note))))
    rows = _nearest(asked, scored)
    return Hits(rows=rows, note="no failure has all of these words; the nearest are below" if rows else "")


def _in_one_line(asked: Sequence[str], text: Searchable) -> bool:
    """Whether a sentence or a log line has all the words. A long page also has words that are not about one thing."""
    parts = [*_SENTENCE.split(" ".join(text.page.split())), *text.lines.split("\n")]
    return any(all(_pattern(word).search(part) for word in asked) for part in parts)


def _telling(text: str) -> tuple[str, ...]:
    """The words that describe a failure, each once, in the form in which pages have them."""
    plain = text.lower().replace("\u2019", "'")
    for word, others in SAME.items():
        plain = re.sub(rf"\b(?:{'|'.join(map(re.escape, others))})\b", word, plain)
    every = list(dict.fromkeys(_WORD.findall(plain)))[:_MOST_WORDS]
    telling = [word for word in every if word.strip("'") not in EMPTY] or every
    return tuple(dict.fromkeys(ENDS.sub("", word.strip("'")) for word in telling))


@functools.cache
def _pattern(word: str) -> re.Pattern[str]:
    """What the word matches: the begin of a word. A number is matched as a whole."""
    ways = "|".join(re.escape(same) for same in SAME.get(word, (word,)))
    end = r"(?![\w.])" if word.isdigit() else ""
    return re.compile(rf"(?<![\w.])(?:{ways}){end}", re.IGNORECASE)


def _corrected(missing: Sequence[str], texts: Sequence[Searchable]) -> dict[str, str]:
    """For each word that nothing has, the word of a name, symptom or summary that is spelt nearly so."""
    if not missing:
        return {}
    known = {word for text in texts for word in _WORD.findall(f"{text.name} {text.symptoms} {text.summary}".lower())}
    candidates = sorted(word for word in known if len(word) > 3)
    close = {word: get_close_matches(word, candidates, n=1, cutoff=0.8) for word in missing if len(word) > 3}
    return {word: found[0] for word, found in close.items() if found}


def _nearest(
    asked: Sequence[str], scored: Sequence[tuple[tuple[int, ...], dict[str, Any]]]
) -> tuple[dict[str, Any], ...]:
    """The rows with the most of the words. A word that few failures have counts more."""
    rare = [math.log(1 + len(scored) / (1 + sum(1 for one, _ in scored if one[at]))) for at in range(len(asked))]
    near = [
        (sum(min(score, _NAME) * weight for score, weight in zip(scores, rare, strict=True)), row)
        for scores, row in scored
        if any(scores)
    ]
    least = max((total for total, _ in near), default=0.0) * _LEAST_SHARE
    return _ranked(one for one in near if one[0] >= least)[:_NEAREST]


def _ranked(scored: Iterable[tuple[float, dict[str, Any]]]) -> tuple[dict[str, Any], ...]:
    return tuple(row for _, row in sorted(scored, key=lambda one: -one[0]))


def starts_word(word: str, text: str) -> bool:
    """Whether a word of the text begins with this one, or with another that means the same."""
    return _pattern(word).search(text) is not None


def searchable(row: dict[str, Any]) -> Searchable:
    """The texts of a row of `list`."""
    module = importlib.import_module(row["module"])
    samples = (signature.sample for signature in getattr(module, "SIGNATURES", ()))
    name = f"{row['id']} {row['slug']} {row['slug'].replace('-', ' ')}"
    symptoms = ", ".join(SYMPTOMS.get(row["id"], ()))
    return Searchable(name, symptoms, row["summary"], module.__doc__ or "", "\n".join(samples))
