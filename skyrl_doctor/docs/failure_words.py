"""The words by which the catalogue's filter finds failures on the site: those that `skyrl-doctor list WORD` compares."""

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from skyrl_doctor.cli.search import EMPTY, ENDS, SAME, searchable, starts_word

_START = re.compile(r"(?=(?<![\w.])(\w(?:[\w.:/+'-]*\w)?))")
"""A word, and each part of it behind a sign, since a search finds both begins."""


def failure_words(rows: Sequence[dict[str, Any]]) -> str:
    """The words of each failure, and how the words of a search are read, as JSON."""
    found = {row["id"]: " ".join(words_of(row)) for row in rows}
    data = {"same": {word: list(ways) for word, ways in SAME.items()}, "empty": sorted(EMPTY), "ends": ENDS.pattern}
    return json.dumps({**data, "words": found}, indent=0, ensure_ascii=False) + "\n"


def words_of(row: dict[str, Any]) -> list[str]:
    """The words of a row of `list`, without those that begin another one."""
    text = searchable(row)
    plain = " ".join((text.name, text.symptoms, text.summary, text.page, text.lines))
    every = {word for word in _START.findall(plain.lower()) if word not in EMPTY}
    every |= {word for word in SAME if starts_word(word, plain)}
    ordered = sorted(every)
    longer = {one for one, other in pairwise(ordered) if other.startswith(one)}
    return [word for word in ordered if word.isdigit() or word not in longer]
