"""Edits of TOML text, byte for byte."""

import pytest

from skyrl_doctor.plan.edits.changes import CannotEdit, Change, Move, Remove, Set
from skyrl_doctor.plan.edits.toml import edited, literal


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        ("a = 1 # é\n", (Set("a", "2"),), "a = 2 # é\n"),
        ("[t]\na = 'x'\n", (Set("t.a", "y"),), '[t]\na = "y"\n'),
        ("[t]\na = 1\n# end\n\n[u]\n", (Set("t.b", "2"),), "[t]\na = 1\nb = 2\n# end\n\n[u]\n"),
        ("[t]", (Set("t.b", "2"),), "[t]\nb = 2\n"),
        ("[t]\na = 1", (Set("u.b", "2"),), "[t]\na = 1\n\n[u]\nb = 2\n"),
        ("[t]\nu.a = 1\n", (Set("t.u.b", "2"),), "[t]\nu.a = 1\nu.b = 2\n"),
        ("t = { a = 1 }\n", (Set("t.b", "2"),), "t = { a = 1, b = 2 }\n"),
        ("t = {}\n", (Set("t.b", "2"),), "t = { b = 2 }\n"),
        ("# top\n\n# of t\n[t]\na = 1\n", (Set("x", "2"),), "# top\n\nx = 2\n\n# of t\n[t]\na = 1\n"),
        ("y = 1\n[t]\na = 1\n", (Set("x", "2"),), "y = 1\nx = 2\n[t]\na = 1\n"),
        ("[[e]]\na = 1\n[[e]]\na = 2\n", (Set("e[1].b", "3"),), "[[e]]\na = 1\n[[e]]\na = 2\nb = 3\n"),
        ("[t]\na = 1 # one\nb = [\n  1,\n]\nc = 3\n", (Remove("t.b"),), "[t]\na = 1 # one\nc = 3\n"),
        ("[t]\na = 1 # one\n", (Move("t.a", "t.b"),), "[t]\nb = 1 # one\n"),
        ("[t]\n'a b' = 1\n", (Move("t.a b", "t.b"),), "[t]\nb = 1\n"),
        ("[t]\nu.a = 1\n", (Move("t.u.a", "t.u.b"),), "[t]\nu.b = 1\n"),
        ("[t]\na = 1\n\n[u]\nc = 3\n", (Move("t.a", "u.b"),), "\n[u]\nc = 3\nb = 1\n"),
        ("[t] # note\na = 1\n[v]\n", (Move("t.a", "u.b"),), "[u] # note\nb = 1\n[v]\n"),
        ("[t]\na = 1\nb = 2\n", (Move("t.a", "u.a"),), "[t]\nb = 2\n\n[u]\na = 1\n"),
        ("a = [0] # two\nb = 1\n[t]\n", (Move("a", "u.x"), Set("u.x", "1")), "b = 1\n\n[u]\nx = 1 # two\n\n[t]\n"),
        ("[t.old]\na = 1\n[t.old.in]\nb = 2\n", (Move("t.old", "t.new"),), "[t.new]\na = 1\n[t.new.in]\nb = 2\n"),
        ("[t]\nold = { a = 1 }\n", (Move("t.old", "t.new"),), "[t]\nnew = { a = 1 }\n"),
        ("s = '''\n[t]\na = 1\n'''\n[t]\na = 2\n", (Move("t.a", "t.b"),), "s = '''\n[t]\na = 1\n'''\n[t]\nb = 2\n"),
    ],
)
def test_only_the_named_keys_change(before: str, changes: tuple[Change, ...], after: str) -> None:
    assert edited(before, changes) == after


@pytest.mark.parametrize(
    ("text", "change", "reason"),
    [
        ("t = { a = 1, b = 2 }\n", Remove("t.a"), "other keys share the line of t.a; edit it by hand"),
        ("t = { a = 1, b = 2 }\n", Move("t.a", "t.c"), "other keys share the line of t.a; edit it by hand"),
        ("a = 1\n", Remove("b"), "the file has no line for b; edit it by hand"),
        ("a = 1\nb = 2\n", Move("a", "b"), "the file already has b; remove a by hand"),
        ("[a]\nx = 1\n[b]\ny = 1\n", Move("a", "b"), "the file already has b; merge [a] into it by hand"),
        ("[[a]]\nx = 1\n", Set("b[0].x", "1"), "add it by hand: the file has no b[0]"),
        ("[a]\nx = 1\n", Set("a", "1"), "[a] is a table; change it by hand"),
        ("a = [\n1]\n", Set("a.b", "1"), "its table is not one that this command can add to; edit it by hand"),
    ],
)
def test_what_it_cannot_do_has_a_reason(text: str, change: Change, reason: str) -> None:
    with pytest.raises(CannotEdit) as raised:
        edited(text, (change,))
    assert str(raised.value) == reason


def test_a_text_stays_a_text() -> None:
    assert [literal("6:00:00", "'4'"), literal("6", "'4'"), literal("6", "4"), literal("{ a = 1 }", '"x"')] == [
        '"6:00:00"',
        '"6"',
        "6",
        "{ a = 1 }",
    ]
