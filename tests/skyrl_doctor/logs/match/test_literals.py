"""Texts that every match holds."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.logs.match.literals import literals, split_branches


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("abc", {"abc"}),
        ("abcd|efg", {"abcd", "efg"}),
        ("abcd|ef", set()),
        ("(?:abc)?defg", {"defg"}),
        ("(?:abcde){1,3}x", {"abcde"}),
        ("abc.{0,5}defgh", {"defgh"}),
        ("(?i)abc", set()),
        ("(?!abcdef)xyz", {"xyz"}),
        (r"\bab", set()),
    ],
)
def test_literals(pattern: str, texts: set[str]) -> None:
    assert literals(pattern) == texts


@given(st.from_regex(r"(?:ab|cd)?(?:xyz|uvwx){1,2}[a-z]*"))
def test_every_match_holds_one(text: str) -> None:
    pattern = r"(?:ab|cd)?(?:xyz|uvwx){1,2}[a-z]*"
    assert re.search(pattern, text)
    assert any(part in text for part in literals(pattern))


def test_branches() -> None:
    assert split_branches(r"a|(?:b|c)|[|\]]d|e\|f") == ["a", "(?:b|c)", r"[|\]]d", r"e\|f"]
    assert split_branches("abc") == ["abc"]


def test_letters_of_any_case_are_not_sure() -> None:
    assert literals("(?i:abcdef)xyz") == {"xyz"}
