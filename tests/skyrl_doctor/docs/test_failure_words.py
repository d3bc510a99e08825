"""The words of the catalogue's filter lead to the failures that `skyrl-doctor list` finds."""

import json

from skyrl_doctor.cli.listing import rows
from skyrl_doctor.cli.search import find
from skyrl_doctor.core.registry import discover
from skyrl_doctor.docs.failure_words import failure_words, words_of

WORDS = ("oom", "timeout", "hang", "nan", "segfault", "podman", "micro-batch", "137", "max_model_len")


def matches(word: str, known: list[str]) -> bool:
    """As docs/site/filter.js compares them."""
    return any(one == word if word.isdigit() else one.startswith(word) for one in known)


def test_the_filter_finds_what_list_finds() -> None:
    known = rows(discover().checks)
    stored = {row["id"]: words_of(row) for row in known}
    for word in WORDS:
        expected = {row["id"] for row in find(known, (word,)).rows}
        assert {id_ for id_, words in stored.items() if matches(word, words)} == expected, word


def test_a_word_is_found_by_its_begin_only() -> None:
    row = next(row for row in rows(discover().checks) if row["slug"] == "disk-too-small")
    assert (matches("room", words_of(row)), matches("oom", words_of(row))) == (True, False)


def test_the_stored_words_tell_how_a_search_is_read() -> None:
    data = json.loads(failure_words(rows(discover().checks)[:1]))
    assert (sorted(data), list(data["words"])) == (["empty", "ends", "same", "words"], ["GPU001"])
    assert data["same"]["oom"][0] == "oom"
    assert "the" in data["empty"]
