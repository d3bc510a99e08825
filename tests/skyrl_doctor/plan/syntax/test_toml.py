"""TOML with places."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.leaf import Leaf, dotted
from skyrl_doctor.plan.syntax.toml import leaves

TEXT = '''\
a = 1 # one
"quoted key".b = "x # y"

[t.u]
list = [
  1, # inside
  2,
]
inline = { p = 1, q = { r = [3] } }

[[env]]
id = 'x'
[[env]]
id = """a
b"""
last = 2020-01-01
'''


def test_every_value_has_its_line() -> None:
    found = {leaf.key: (leaf.line, leaf.value) for leaf in leaves(Source("f", TEXT)) if not leaf.is_table}
    assert {key: line for key, (line, _) in found.items()} == {
        "a": 1,
        "quoted key.b": 2,
        "t.u.list": 5,
        "t.u.inline.p": 9,
        "t.u.inline.q.r": 9,
        "env[0].id": 12,
        "env[1].id": 14,
        "env[1].last": 16,
    }


def test_tables_have_the_line_of_their_header() -> None:
    tables = {leaf.key: leaf.line for leaf in leaves(Source("f", TEXT)) if leaf.is_table}
    assert tables == {
        "quoted key": None,
        "t": None,
        "t.u": 4,
        "t.u.inline": 9,
        "t.u.inline.q": 9,
        "env": 11,
        "env[0]": 11,
        "env[1]": 13,
    }


def test_dotted() -> None:
    assert dotted(("env", 0, "id")) == "env[0].id"


KEYS = st.from_regex(r"[a-z][a-z0-9_-]{0,5}", fullmatch=True) | st.text(max_size=4)
SCALARS = st.integers(-(1 << 62), 1 << 62) | st.booleans() | st.text(max_size=8) | st.floats(allow_nan=False)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)


def written(value: Any) -> str:
    """TOML of a value, in the inline form."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return "[ " + ",\n ".join(written(item) for item in value) + " ] # list"[:2]
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{quoted(name)} = {written(item)}" for name, item in value.items()) + " }"
    return str(value)


def quoted(text: str) -> str:
    escaped = "".join(letter if letter.isalnum() else f"\\U{ord(letter):08x}" for letter in text)
    return f'"{escaped}"'


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4), st.sampled_from(["", "# c\n", "\n \t\n"]))
def test_the_span_of_a_value_is_the_value(table: dict[str, Any], between: str) -> None:
    surrogates = any("\ud800" <= letter <= "\udfff" for letter in repr(table))
    text = between + "".join(f"{quoted(name)} = {written(value)}  # note\n{between}" for name, value in table.items())
    if surrogates:
        return
    for leaf in leaves(Source("f", text)):
        assert leaf.span is not None
        start, end = leaf.span
        assert tomllib.loads(f"x = {text[start:end]}")["x"] == leaf.value
        assert leaf.line == text.count("\n", 0, start) + 1


def test_an_empty_table_is_a_leaf() -> None:
    assert leaves(Source("f", "[a]\n")) == (Leaf(("a",), {}, 1, (0, 3), is_table=True),)
