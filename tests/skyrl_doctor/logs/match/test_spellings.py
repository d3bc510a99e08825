"""Each match of a pattern holds a text of each set that it is spelled out in."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.logs.match.literals import split_branches
from skyrl_doctor.logs.match.patterns import installed_patterns
from skyrl_doctor.logs.match.rare_texts import find_rare_texts
from skyrl_doctor.logs.match.spellings import spell_out

BRANCHES = sorted({branch for text in installed_patterns().texts for branch in split_branches(text)})


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("abc", [{"abc"}]),
        (r"a\bb$", [{"ab"}]),
        ("[Nn]o (?:free|more)", [{"No free", "no free", "No more", "no more"}]),
        ("ab(?:cd)?e", [{"abcde", "abe"}]),
        (r"ab\d+cd", [{"ab"}, {"cd"}, {f"{digit}cd" for digit in range(10)}]),
        (r"ab\d*cd", [{"ab"}, {"cd"}]),
        (r"ab[\d.]+cd", [{"ab"}, {"cd"}]),
        (r"a(?:b\d)+cd", [{"a"}, {"b"}, {"cd"}]),
        (r"ab\d", [{"ab"}]),
        ("ab[^c]de", [{"ab"}, {"de"}]),
        ("(?:ab|c[^x]de)f", [{"ab", "de"}, {"f"}]),
        ("(?:abc){2,3}d", [{"abc"}, {"d"}]),
        ("x(?i:abc)d", [{"x"}, {"d"}]),
        ("(?!abcdef)xyz", [{"xyz"}]),
        ("[a-z]x", [{"x"}]),
        ("(?i)abc", []),
    ],
)
def test_spelled(pattern: str, texts: list[set[str]]) -> None:
    assert list(spell_out(pattern)) == texts


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_every_match_of_every_pattern_holds_one_of_each(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(BRANCHES))
    match = data.draw(st.from_regex(pattern, fullmatch=False, alphabet=st.characters(max_codepoint=126)))
    held = re.search(pattern, match)
    assert held is not None
    assert all(any(text in held[0] for text in texts) for texts in spell_out(pattern))
    texts = find_rare_texts(pattern)
    assert not texts or any(text in held[0] for text in texts)


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("actor/pg_loss", set()),  # stands in ordinary lines
        ("step:.{0,9}out of memory", {"out of m"}),
        (r"x \d", set()),
        (r"500 .*:\d{4}/sessions?", {f"{digit}/sessio" for digit in range(10)}),
    ],
)
def test_rare(pattern: str, texts: set[str]) -> None:
    assert find_rare_texts(pattern) == texts
