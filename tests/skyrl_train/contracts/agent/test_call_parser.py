"""Replies as models write them, and what is read from each."""

import pytest

from skyrl_train.contracts.agent.call_errors import call_error
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Call, CallError, CallErrorKind, Ended, Repair, Span

LS = "<function=terminal>\n<parameter=command>ls -la</parameter>\n</function>"


def arguments_of(text: str, ended: Ended = Ended.STOP) -> tuple[tuple[str, str], ...]:
    call = parse_call(text, ended=ended)
    assert isinstance(call, Call), call
    return call.arguments


def kind_of(text: str, ended: Ended = Ended.STOP) -> CallErrorKind:
    error = parse_call(text, ended=ended)
    assert isinstance(error, CallError), error
    assert 0 <= error.span.start <= error.span.end <= len(text)
    return error.kind


def test_reads_name_values_and_place() -> None:
    assert parse_call("I look around.\n" + LS) == Call("terminal", (("command", "ls -la"),), Span(15, 15 + len(LS)))


def test_several_parameters_in_the_order_written() -> None:
    text = "<function=f>\n<parameter=b>1</parameter>\n<parameter=a>2</parameter>\n</function>"
    assert arguments_of(text) == (("b", "1"), ("a", "2"))


@pytest.mark.parametrize("end", ["", "<", "</", "</f", "</functio", "</function"])
@pytest.mark.parametrize("space", ["", "\n", "\r\n \n"])
def test_mends_the_end_tag_that_a_stop_string_took(end: str, space: str) -> None:
    text = "<function=terminal>\n<parameter=command>ls -la</parameter>" + space + end
    assert parse_call(text) == Call("terminal", (("command", "ls -la"),), Span(0, len(text)), (Repair.END_TAG,))


def test_a_call_without_parameters_survives_the_stop_string() -> None:
    assert parse_call("<function=finish>\n") == Call("finish", (), Span(0, 18), (Repair.END_TAG,))


@pytest.mark.parametrize("kept", range(len(LS)))
def test_never_runs_what_the_length_limit_cut(kept: int) -> None:
    assert kind_of(LS[:kept], Ended.LENGTH) is CallErrorKind.CUT_BY_LENGTH


def test_a_whole_call_counts_though_the_length_limit_cut_what_followed() -> None:
    assert arguments_of(LS + "\nNow I wait for the out", Ended.LENGTH) == (("command", "ls -la"),)


def test_mends_the_parameter_tag_that_lost_its_bracket() -> None:
    text = "<function=file_editor>\n<parameter=command=view</parameter>\n<parameter=path>/a</parameter>\n</function>"
    assert parse_call(text) == Call(
        "file_editor", (("command", "view"), ("path", "/a")), Span(0, len(text)), (Repair.PARAMETER_TAG,)
    )


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("", ""),
        ("\n", ""),
        ("\r\n", ""),
        (" x ", " x "),
        ("\nx\n", "x"),
        ("\r\nx\r\ny\r\n", "x\r\ny"),
        ("\n    indented\n\n", "    indented\n"),
        ("\n\nx\n\n\n", "\nx\n\n"),
        ("\nx", "\nx"),
        ("x\n", "x\n"),
        ("\nx\r\n", "x\r"),
        ("naïve → 北京 \U0001f40d", "naïve → 北京 \U0001f40d"),
        ("echo '</function>'", "echo '</function>'"),
        ("grep '<function=' x", "grep '<function=' x"),
        ("echo '</parameter>' x", "echo '</parameter>' x"),
        ("a < b > c </think> <think>", "a < b > c </think> <think>"),
    ],
)
def test_values_are_kept_to_the_byte_but_for_one_wrapping_newline(written: str, value: str) -> None:
    assert arguments_of(f"<function=f>\n<parameter=p>{written}</parameter>\n</function>") == (("p", value),)


def test_crlf_between_the_tags() -> None:
    assert arguments_of(LS.replace("\n", "\r\n")) == (("command", "ls -la"),)


@pytest.mark.parametrize(
    "text",
    [
        f"<think>first {LS.replace('ls -la', 'rm -rf /')} no</think>\n{LS}",
        f"I could {LS.replace('ls -la', 'rm -rf /')} but no</think>\n{LS}",
        f"<think>a</think> so <think><function=terminal></think>{LS}",
        f"plain thought</think>{LS}",
        f"As <function=terminal> lists files, I call it.\n{LS}",
        f"<tool_call>\n{LS}\n</tool_call>",
        f"<function=terminal> shows\n{LS}",
    ],
)
def test_only_the_answer_is_searched_and_a_mention_is_no_call(text: str) -> None:
    assert arguments_of(text) == (("command", "ls -la"),)


def test_a_closing_think_tag_inside_a_value_is_a_value() -> None:
    text = "<function=f>\n<parameter=p>a</think>b</parameter>\n</function>"
    assert arguments_of(text) == (("p", "a</think>b"),)
    assert arguments_of(f"<think>x</think>{text}") == (("p", "a</think>b"),)


def test_runs_the_first_of_several_calls_and_counts_the_others() -> None:
    text = LS + "\n" + LS.replace("ls", "pwd") + LS
    assert parse_call(text) == Call("terminal", (("command", "ls -la"),), Span(0, len(LS)), (), 2)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", CallErrorKind.EMPTY_REPLY),
        (" \r\n\t", CallErrorKind.EMPTY_REPLY),
        ("I am done.", CallErrorKind.NO_CALL),
        ('{"name": "terminal", "arguments": {"command": "ls"}}', CallErrorKind.NO_CALL),
        ("<think>hm", CallErrorKind.NO_CALL),
        (f"<think>{LS}", CallErrorKind.CALL_IN_THINKING),
        (f"<think>{LS}</think> done", CallErrorKind.CALL_IN_THINKING),
        (f"{LS}</think> done", CallErrorKind.CALL_IN_THINKING),
        ('<function=terminal>{"command": "ls"}</function>', CallErrorKind.STRAY_TEXT),
        ("<function=>\n</function>", CallErrorKind.STRAY_TEXT),
        ("<function=terminal\n<parameter=command>ls</parameter>\n</function>", CallErrorKind.STRAY_TEXT),
        ("<function=f>\n<parameter=p>1</parameter>\nthen\n</function>", CallErrorKind.STRAY_TEXT),
        ("<function=f>\n<parameter=p></function>", CallErrorKind.UNCLOSED_PARAMETER),
        ("<function=f>\n<parameter=p>echo '", CallErrorKind.UNCLOSED_PARAMETER),
        ("<function=f>\n<parameter=>1</parameter>\n</function>", CallErrorKind.BROKEN_PARAMETER),
        ("<function=f>\n<parameter=p=a<b</parameter>\n</function>", CallErrorKind.BROKEN_PARAMETER),
        ("<function=f>\n<parameter=p>1\n<parameter=q>2</parameter>\n</function>", CallErrorKind.AMBIGUOUS_VALUE),
        ("<function=f>\n<parameter=p>1</parameter></parameter></function>", CallErrorKind.AMBIGUOUS_VALUE),
        (
            "<function=f>\n<parameter=p>write </parameter>\n</function> here</parameter>\n</function>",
            CallErrorKind.AMBIGUOUS_VALUE,
        ),
        (
            "<function=f>\n<parameter=p>1</parameter>\n<parameter=p>1</parameter>\n</function>",
            CallErrorKind.DUPLICATE_PARAMETER,
        ),
    ],
)
def test_says_what_is_wrong(text: str, kind: CallErrorKind) -> None:
    assert kind_of(text) is kind


def test_no_call_names_the_form_and_is_not_the_text_of_an_unknown_tool() -> None:
    assert parse_call("done") == CallError(
        CallErrorKind.NO_CALL,
        Span(0, 4),
        "Your reply calls no function. Call one, in this form:\n"
        "<function=NAME>\n<parameter=PARAMETER>value</parameter>\n</function>\n"
        "When the task is done, call finish.",
    )


def test_an_error_repeats_little_of_what_the_model_wrote() -> None:
    name = "x" * 120
    error = call_error(CallErrorKind.UNCLOSED_PARAMETER, Span(0, 1), subject=name)
    assert parse_call(f"<function=f>\n<parameter={name}>") == CallError(error.kind, Span(13, 13 + 12 + 120), error.text)
    assert len(error.text) < 250


def test_nothing_of_a_reply_that_was_cut_is_mended() -> None:
    text = "<function=terminal>\n<parameter=command=ls</parameter>\n</function>\nand th"
    assert arguments_of(text) == (("command", "ls"),)
    assert kind_of(text, Ended.LENGTH) is CallErrorKind.CUT_BY_LENGTH
