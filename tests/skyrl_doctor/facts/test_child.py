"""Reading what a child program printed."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def test_the_last_object_is_the_answer_and_noise_before_it_is_none() -> None:
    answer = answer_of('hello\n{"a": "x"}\n{"a": "y", "n": 2, "t": ["p"], "r": [["q", "r"]]}\nbye\n', "child")
    assert (answer.text("a"), answer.integer("n"), answer.texts("t"), answer.rows("r", 2)) == (
        "y",
        2,
        ("p",),
        (("q", "r"),),
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "printed no JSON object"),
        ("no", "printed no JSON object"),
        ("[1]", "printed no JSON object"),
        ("{", "is not JSON"),
        ('{"a": 1', "is not JSON"),
        ("{}x", "is not JSON"),
    ],
)
def test_what_is_no_object_is_no_answer(text: str, why: str) -> None:
    with pytest.raises(CouldNotLook, match=f"^child {why}"):
        answer_of(text, "child")


def test_a_field_of_another_type_is_not_looked_at() -> None:
    answer = answer_of('{"flag": 1, "code": true, "texts": ["a", 1], "rows": [["a"]], "number": "1"}', "child")
    looks = (
        lambda: answer.flag("flag"),
        lambda: answer.integer("code", None),
        lambda: answer.texts("texts"),
        lambda: answer.rows("rows", 2),
        lambda: answer.number("number"),
        lambda: answer.text("missing"),
        lambda: answer.inner_or_none("flag"),
        lambda: answer.named_lists("texts"),
    )
    for look in looks:
        with pytest.raises(CouldNotLook, match=r"^child: "), unknown_if_malformed():
            look()


def test_a_number_beyond_all_bounds_is_none() -> None:
    with pytest.raises(CouldNotLook), unknown_if_malformed():
        answer_of('{"x": 1' + "0" * 400 + "}", "child").number("x")


@given(JSON)
def test_no_field_crashes(value: object) -> None:
    answer = answer_of(json.dumps({"x": value}), "child")
    for look in (
        answer.text,
        answer.flag,
        answer.number,
        answer.integer,
        answer.inner,
        answer.texts,
        answer.named_lists,
    ):
        with contextlib.suppress(CouldNotLook), unknown_if_malformed():
            look("x")
