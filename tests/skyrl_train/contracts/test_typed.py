"""The typed reader: each type, what is missing, what is wrong, and where."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.typed import (
    Fields,
    FormatError,
    as_object,
    last_object,
    parse_json,
    parse_object,
    parse_objects,
)

TEXT = """{"text": "a", "flag": true, "integer": 7, "number": 1.5, "null": null, "texts": ["a", "b"], "integers": [1, 2],
"inner": {"deep": {"text": "b"}}, "objects": [{"x": 1}, {"x": "no"}], "rows": [["a", "b"], ["c", "d"]], "empty": [],
"named": {"a": "1"}, "numbers": [1, 2.5], "lists": {"of": {"a": ["b"], "c": []}}}"""
FOUND = parse_object(TEXT, "f.json")
Ask = Callable[[Fields], object]


@pytest.mark.parametrize(
    ("ask", "value"),
    [
        (lambda f: f.text("text"), "a"),
        (lambda f: f.choice("text", ["a", "b"]), "a"),
        (lambda f: f.flag("flag"), True),
        (lambda f: f.integer("integer"), 7),
        (lambda f: f.integer("integer", at_least=7, at_most=7), 7),
        (lambda f: f.number("number"), 1.5),
        (lambda f: f.number("integer"), 7.0),
        (lambda f: f.texts("texts"), ("a", "b")),
        (lambda f: f.texts("empty"), ()),
        (lambda f: f.integers("integers"), (1, 2)),
        (lambda f: f.inner("inner").inner("deep").text("text"), "b"),
        (lambda f: f.objects("objects")[0].integer("x"), 1),
        (lambda f: f.rows("rows", 2), (("a", "b"), ("c", "d"))),
        (lambda f: f.named_texts("named"), {"a": "1"}),
        (lambda f: f.inner("lists").named_lists("of"), {"a": ("b",), "c": ()}),
        (lambda f: f.numbers("numbers"), (1.0, 2.5)),
        (lambda f: f.value("rows"), [["a", "b"], ["c", "d"]]),
        (lambda f: f.value("gone"), None),
        (lambda f: f.values("objects"), ({"x": 1}, {"x": "no"})),
        (lambda f: [*f.inner("inner")], ["deep"]),
        (lambda f: (len(f), "text" in f, "null" in f, "gone" in f), (14, True, False, False)),
    ],
)
def test_reads_each_type(ask: Ask, value: object) -> None:
    assert ask(FOUND) == value


@pytest.mark.parametrize("name", ["gone", "null"])
@pytest.mark.parametrize(
    "ask",
    [
        Fields.text,
        Fields.flag,
        Fields.integer,
        Fields.number,
        Fields.inner,
        Fields.texts,
        Fields.integers,
        Fields.objects,
        lambda f, name: f.rows(name, 2),
    ],
)
def test_a_missing_value_is_named(ask: Callable[[Fields, str], object], name: str) -> None:
    with pytest.raises(FormatError) as raised:
        ask(FOUND, name)
    assert str(raised.value) == f"f.json: {name} is missing"


@pytest.mark.parametrize("name", ["gone", "null"])
def test_a_default_is_for_a_missing_value(name: str) -> None:
    assert (FOUND.text(name, ""), FOUND.flag(name, False), FOUND.integer(name, 3)) == ("", False, 3)
    assert (FOUND.number(name, None), FOUND.texts(name, ()), FOUND.integers(name, ())) == (None, (), ())
    assert (FOUND.objects(name, ()), FOUND.inner_or_none(name)) == ((), None)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda f: f.text("integer"), "integer is 7; expected text"),
        (lambda f: f.text("integer", None), "integer is 7; expected text"),
        (lambda f: f.text("texts"), "texts is a list; expected text"),
        (lambda f: f.choice("text", ["b", "c"]), 'text is "a"; expected b, c'),
        (lambda f: f.flag("integer"), "integer is 7; expected true or false"),
        (lambda f: f.integer("flag"), "flag is true; expected an integer"),
        (lambda f: f.integer("number"), "number is 1.5; expected an integer"),
        (lambda f: f.integer("integer", at_least=8), "integer is 7; expected at least 8"),
        (lambda f: f.integer("integer", at_most=6), "integer is 7; expected at most 6"),
        (lambda f: f.integer("integer", at_least=1, at_most=6), "integer is 7; expected 1 to 6"),
        (lambda f: f.number("flag"), "flag is true; expected a number"),
        (lambda f: f.number("text"), 'text is "a"; expected a number'),
        (lambda f: f.inner("empty"), "empty is an empty list; expected an object"),
        (lambda f: f.inner_or_none("text"), 'text is "a"; expected an object'),
        (lambda f: f.texts("integers"), "integers[0] is 1; expected text"),
        (lambda f: f.integers("texts"), 'texts[0] is "a"; expected an integer'),
        (lambda f: f.objects("texts"), 'texts[0] is "a"; expected an object'),
        (lambda f: f.objects("objects")[1].integer("x"), 'objects[1].x is "no"; expected an integer'),
        (lambda f: f.inner("inner").inner("deep").integer("text"), 'inner.deep.text is "b"; expected an integer'),
        (lambda f: f.rows("rows", 3), "rows[0] is a list; expected 3 texts"),
        (lambda f: f.rows("texts", 1), 'texts[0] is "a"; expected a list'),
        (lambda f: f.numbers("texts"), 'texts[0] is "a"; expected a number'),
        (lambda f: f.inner("lists").named_lists("of").get(f.text("flag")), "flag is true; expected text"),
        (lambda f: f.named_lists("named"), 'named.a is "1"; expected a list'),
        (lambda f: f.named_texts("inner"), "inner.deep is an object; expected text"),
    ],
)
def test_a_wrong_value_is_shown_with_its_place(ask: Ask, message: str) -> None:
    with pytest.raises(FormatError) as raised:
        ask(FOUND)
    assert str(raised.value) == f"f.json: {message}"


def test_a_long_value_is_cut() -> None:
    with pytest.raises(FormatError, match=r"^x is \"a{79}…; expected an integer$"):
        Fields({"x": "a" * 1000}).integer("x")


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 10**400])
def test_numbers_without_a_value_are_refused(value: float) -> None:
    with pytest.raises(FormatError, match="expected a number"):
        Fields({"x": value}).number("x")


def test_an_error_of_the_callers_own_names_the_place_too() -> None:
    error = FOUND.inner("inner").error("deep", "is odd")
    assert (str(error), error.source, error.path, error.problem) == (
        "f.json: inner.deep is odd",
        "f.json",
        "inner.deep",
        "is odd",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.json is not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("{", "f.json is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[1]", "f.json is a list; expected an object"),
        ("null", "f.json is null; expected an object"),
    ],
)
def test_what_is_no_object_is_refused(text: str, message: str) -> None:
    with pytest.raises(FormatError) as raised:
        parse_object(text, "f.json")
    assert str(raised.value) == message


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(FormatError, match=r"^f\.json is not JSON"):
        parse_object(b'{"a": "\xff"}', "f.json")
    assert parse_object(b'{"a": "\xc3\xa9"}').text("a") == "é"


def test_a_long_text_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(FormatError, match=r"^f.json has more than 10 bytes$"):
        parse_object("{" + " " * 10, "f.json", most_bytes=10)
    assert parse_object("{        }", most_bytes=10).path == ""


@pytest.mark.parametrize("depth", [3, 4, 100_000])
def test_a_deep_text_is_refused(depth: int) -> None:
    text = "[" * depth + "]" * depth
    if depth == 3:
        assert parse_json(text, "f.json", most_depth=3) == [[[]]]
        return
    with pytest.raises(FormatError, match=r"^f.json is nested deeper than 3 levels$"):
        parse_json(text, "f.json", most_depth=3)


def test_brackets_in_texts_are_no_depth() -> None:
    assert parse_json(json.dumps(["[[[[["]), most_depth=1) == ["[[[[["]


def test_a_list_of_objects() -> None:
    assert [found.integer("a") for found in parse_objects('[{"a": 1}, {"a": 2}]')] == [1, 2]
    assert parse_objects("null") == ()
    for text, message in (("7", "podman is 7; expected a list"), ("[7]", "podman: [0] is 7; expected an object")):
        with pytest.raises(FormatError) as raised:
            parse_objects(text, "podman")
        assert str(raised.value) == message
    with pytest.raises(FormatError, match=r"^podman: \[1\]\.a is missing$"):
        parse_objects('[{}, {"a": null}]', "podman")[1].integer("a")


def test_the_last_object_of_an_output() -> None:
    assert last_object('warning\n{"a": 1}\n{"a": 2}\nbye\n').integer("a") == 2
    with pytest.raises(FormatError, match=r"^python printed no JSON object$"):
        last_object("nothing\n", "python")
    with pytest.raises(FormatError, match=r"^python is not JSON"):
        last_object('{"a": 1}\n{"a": \n', "python")


def test_only_an_object_has_fields() -> None:
    with pytest.raises(FormatError, match=r"^row 3 is \"x\"; expected an object$"):
        as_object("x", "row 3")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.dictionaries(st.sampled_from(["a", "b"]), VALUES))
def test_any_value_is_of_its_type_or_refused_with_its_name(values: dict[str, object]) -> None:
    found = Fields(values, "s")
    for ask, kind in (
        (found.text, str),
        (found.flag, bool),
        (found.integer, int),
        (found.number, float),
        (found.texts, tuple),
    ):
        try:
            value = ask("a")
        except FormatError as error:
            value = kind() if (error.source, error.path.partition("[")[0]) == ("s", "a") else error
        assert type(value) is kind


@given(st.dictionaries(st.text(), VALUES))
def test_any_object_is_read_back(values: dict[str, object]) -> None:
    found = parse_object(json.dumps(values), most_depth=1000)
    assert [*found] == [*values]
    assert repr({name: found.value(name) for name in found}) == repr(values)


@given(st.text() | st.binary())
def test_any_text_is_parsed_or_refused(text: str | bytes) -> None:
    try:
        parse_json(text)
    except FormatError:
        return
