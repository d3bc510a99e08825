"""Edits of YAML text, byte for byte."""

import pytest

from skyrl_doctor.plan.edits.changes import CannotEdit, Change, Move, Remove, Set
from skyrl_doctor.plan.edits.yaml import edited


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ("a:\n  b: 1 # é\n", Set("a.b", "2"), "a:\n  b: 2 # é\n"),
        ("a:\n  b: '1'\n", Set("a.b", "x y"), "a:\n  b: 'x y'\n"),
        ("a:\n  b:\n  c: 1\n", Set("a.b", "2"), "a:\n  b: 2\n  c: 1\n"),
        ("a:\n  b: 1\n", Set("a.c", "x: y"), "a:\n  c: 'x: y'\n  b: 1\n"),
        ("a:\n  b: 1 # one\n  c: 2\n", Move("a.b", "a.d"), "a:\n  d: 1 # one\n  c: 2\n"),
        ("a:\n  b: 1\n  c: 2\nd:\n  e: 3\n", Move("a.b", "d.f"), "a:\n  c: 2\nd:\n  f: 1\n  e: 3\n"),
        ("a:\n  b: 1\n  c: 2", Remove("a.c"), "a:\n  b: 1\n"),
    ],
)
def test_only_the_named_key_changes(before: str, change: Change, after: str) -> None:
    assert edited(before, (change,)) == after


@pytest.mark.parametrize(
    ("text", "change", "reason"),
    [
        ("a: {b: 1, c: 2}\n", Remove("a.b"), "other keys share the line of a.b; edit it by hand"),
        ("a: {b: 1, c: 2}\n", Set("a.d", "1"), "other keys share the line of a.b; edit it by hand"),
        ("a: |\n  x\n", Set("a", "1"), "a is not a plain value; change it by hand"),
        ("a: 1\nb: 2\n", Move("a", "b"), "the file already has b; remove a by hand"),
        ("a: 1\n", Set("b.c", "1"), "add it by hand: the file has no other key of b"),
        ("a: 1\n", Remove("b"), "the file has no line for b; edit it by hand"),
    ],
)
def test_what_it_cannot_do_has_a_reason(text: str, change: Change, reason: str) -> None:
    with pytest.raises(CannotEdit) as raised:
        edited(text, (change,))
    assert str(raised.value) == reason
