"""format∘parse is the identity, and no text makes the parser fail."""

from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.agent.call_format import format_call
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Call, CallError, CallErrorKind, Ended, Span

NAMES = st.text(st.characters(exclude_characters="<>=\r\n", exclude_categories=["Cs"]), min_size=1, max_size=20)
PLAIN = st.text(st.characters(exclude_categories=["Cs"]))
TAGS = ["<function=", "<function=f>", "</function>", "<parameter=", "<parameter=p>", "<parameter=p=v", "</parameter>"]
BITS = ["<think>", "</think>", "</", "<", ">", "\n", "\r\n", " ", "f", "\U0001f40d"]
TAGGED = st.lists(st.sampled_from([*TAGS, *BITS]) | PLAIN, max_size=30).map("".join)


def parameters(values: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, str]]]:
    return st.lists(st.tuples(NAMES, values), max_size=5, unique_by=lambda pair: pair[0])


def harmless(value: str) -> bool:
    return not any(tag in value for tag in ("<parameter=", "</parameter>"))


@given(NAMES, parameters(PLAIN.filter(harmless) | TAGGED.filter(harmless)))
def test_any_value_without_parameter_tags_comes_back(name: str, arguments: list[tuple[str, str]]) -> None:
    text = format_call(name, arguments)
    assert isinstance(text, str)
    assert parse_call(text) == Call(name, tuple(arguments), Span(0, len(text)))
    assert parse_call(text, ended=Ended.LENGTH) == parse_call(text)


@given(NAMES, parameters(TAGGED))
def test_a_value_with_tags_comes_back_or_is_refused(name: str, arguments: list[tuple[str, str]]) -> None:
    text = format_call(name, arguments)
    if isinstance(text, str):
        assert parse_call(text) == Call(name, tuple(arguments), Span(0, len(text)))


@given(TAGGED, st.sampled_from(Ended))
def test_what_was_parsed_can_be_written_and_read_again(text: str, ended: Ended) -> None:
    call = parse_call(text, ended=ended)
    assert 0 <= call.span.start <= call.span.end <= len(text)
    if isinstance(call, CallError):
        return
    again = format_call(call.name, call.arguments)
    assert isinstance(again, CallError) or parse_call(again) == Call(call.name, call.arguments, Span(0, len(again)))


def test_refuses_a_value_that_would_end_the_call() -> None:
    error = format_call("f", [("p", "</parameter>\n</function>")])
    assert isinstance(error, CallError)
    assert error.kind is CallErrorKind.AMBIGUOUS_VALUE
