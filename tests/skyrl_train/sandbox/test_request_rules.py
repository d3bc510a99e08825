"""A rule's schema and its reader agree: what one refuses, the other does."""

from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.sandbox.request_rules import BodyRules, RequestError, Rule, array, integer, mapping, one_of, text
from skyrl_train.sandbox.start_request import IMAGE, START

NAME = text("a name of small letters", pattern=r"[a-z]{1,4}")
TEXTS = st.text(alphabet=st.sampled_from("ab/.\0\nA1")) | st.text(max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
)
RULES: dict[str, Rule[Any]] = {
    "text": NAME,
    "text without NUL": text("text"),
    "short text": text("short text", most=2),
    "one of": one_of((1, 2, 4, "Always")),
    "integer": integer(1, 5),
    "array": array(NAME, most=2),
    "mapping": mapping(NAME, text("a string without NUL")),
}


def is_valid(schema: Mapping[str, object], value: object) -> bool:
    """The pattern's $ stands for the end of the text, as JSON schema has it: Python's would let a newline follow."""
    if isinstance(value, float) and value != value:
        return False  # not JSON
    return bool(jsonschema.Draft202012Validator(dict(schema)).is_valid(value))


@pytest.mark.parametrize("name", RULES)
@given(value=JSON)
def test_schema_and_reader_agree(name: str, value: object) -> None:
    rule = RULES[name]
    integral = isinstance(value, float) and value.is_integer()  # JSON schema calls 2.0 an integer
    newline = "\n" in repr(value).encode().decode("unicode_escape")
    if not (integral and name == "integer") and not newline:
        assert rule.allows(value) is is_valid(rule.schema, value)


@given(st.dictionaries(st.sampled_from(sorted({*START.required, *START.optional, "other"})), JSON))
def test_a_body_that_is_read_fits_the_schema(changes: dict[str, object]) -> None:
    body = {"image": "docker.io/a/bc", "session_id": "s1", **changes}
    try:
        START.read(body)
    except RequestError:
        return
    assert is_valid(START.schema, body)


BODY = BodyRules(
    required={"name": NAME}, optional={"count": integer(1, 5)}, ignored={"old": "no client sends it any more."}
)


def test_the_schema_of_a_body() -> None:
    assert BODY.schema == {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "pattern": "^(?:[a-z]{1,4})$"},
            "count": {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 5}, {"type": "null"}]},
            "old": {"description": "Ignored: no client sends it any more."},
        },
    }


def test_what_is_missing_null_ignored_or_unknown_is_left_out() -> None:
    assert BODY.read({"name": "a", "count": None, "old": 1, "new": 2}) == {"name": "a"}
    assert BODY.read({"name": "a", "count": 2}) == {"name": "a", "count": 2}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([], "body: expected a JSON object, found list"),
        ({}, "name: expected a name of small letters, found nothing"),
        ({"name": "A" * 100}, f"name: expected a name of small letters, found '{'A' * 79}"),
        ({"name": "a", "count": 6}, "count: expected an integer from 1 to 5, found 6"),
        ({"name": "a", "count": True}, "count: expected an integer from 1 to 5, found True"),
    ],
)
def test_a_refusal_names_the_value_and_what_is_expected(body: object, message: str) -> None:
    with pytest.raises(RequestError) as refused:
        BODY.read(body)
    assert str(refused.value) == message


def test_a_rule_beyond_its_pattern_has_its_own_message() -> None:
    with pytest.raises(RequestError, match=r"^image: 'docker.io/docker.io/a/b' names two registries"):
        IMAGE.read("image", "docker.io/docker.io/a/b")


@pytest.mark.parametrize(
    ("rule", "value", "message"),
    [
        ("mapping", {"A": "b"}, "x: 'A' is not a name of small letters"),
        ("mapping", {"a": 1}, "x: a: expected a string without NUL, found 1"),
        ("array", ["a", "b", "c"], "x: expected at most 2, found 3"),
        ("array", ["A"], "x: expected a list, each item a name of small letters, found ['A']"),
        ("one of", 3, "x: expected one of 1, 2, 4, Always, found 3"),
    ],
)
def test_containers_say_what_is_wrong_inside(rule: str, value: object, message: str) -> None:
    with pytest.raises(RequestError) as refused:
        RULES[rule].read("x", value)
    assert str(refused.value) == message
