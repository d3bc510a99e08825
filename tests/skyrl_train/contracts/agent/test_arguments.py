"""Calls against the tool table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.agent.arguments import Action, check_call
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Call, CallError, CallErrorKind, Span
from skyrl_train.contracts.agent.tools import FINISH, TOOLS

SPAN = Span(3, 9)


def check(tool: str, **arguments: str) -> Action | CallError:
    return check_call(Call(tool, tuple(arguments.items()), SPAN))


def refused(tool: str, **arguments: str) -> tuple[CallErrorKind, str]:
    error = check(tool, **arguments)
    assert isinstance(error, CallError)
    assert error.span == SPAN
    return error.kind, error.text


def test_texts_are_kept_and_words_and_numbers_are_read() -> None:
    assert check("terminal", command=" ls \n", is_input=" True ", timeout="\n2.5\n", reset="no") == Action(
        "terminal", {"command": " ls \n", "is_input": True, "timeout": 2.5, "reset": False}
    )
    assert check("file_editor", command="\nview\n", path=" /a b ", view_range="[1, -1]") == Action(
        "file_editor", {"command": "view", "path": "/a b", "view_range": (1, -1)}
    )
    assert check("file_editor", command="insert", path="/a", insert_line="0", new_str="  x\n") == Action(
        "file_editor", {"command": "insert", "path": "/a", "insert_line": 0, "new_str": "  x\n"}
    )


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("terminal", "terminal"),
        ("execute_bash", "terminal"),
        ("bash", "terminal"),
        ("cmd_run", "terminal"),
    ],
)
def test_old_names_of_the_terminal(name: str, tool: str) -> None:
    assert check(name, command="ls") == Action(tool, {"command": "ls"})


@pytest.mark.parametrize("name", ["file_editor", "str_replace_editor", "str_replace"])
def test_old_names_of_the_editor(name: str) -> None:
    assert check(name, command="view", path="/a") == Action("file_editor", {"command": "view", "path": "/a"})


def test_an_unknown_tool_is_not_reported_as_no_call() -> None:
    assert refused("ls") == (
        CallErrorKind.UNKNOWN_TOOL,
        "The function 'ls' does not exist, so nothing was run. Functions: terminal, file_editor, finish, think.",
    )
    no_call = parse_call("ls")
    assert isinstance(no_call, CallError)
    assert no_call.kind is CallErrorKind.NO_CALL
    assert no_call.text != refused("ls")[1]


def test_only_the_tools_of_the_task_are_known() -> None:
    call = Call("terminal", (("command", "ls"),), SPAN)
    error = check_call(call, [FINISH])
    assert error == CallError(
        CallErrorKind.UNKNOWN_TOOL,
        SPAN,
        "The function 'terminal' does not exist, so nothing was run. Functions: finish.",
    )


def test_finish_takes_a_message_and_no_thought() -> None:
    assert check("finish", message="") == Action("finish", {"message": ""})
    assert refused("finish", thought="CONTEXT_WINDOW_EXCEEDED") == (
        CallErrorKind.UNKNOWN_PARAMETER,
        "The parameter 'thought' does not exist, so nothing was run. Parameters of this function: message.",
    )
    assert refused("finish") == (
        CallErrorKind.MISSING_PARAMETER,
        "Parameter 'message' (what was done) is required here, so nothing was run.",
    )


def test_security_risk_is_dropped() -> None:
    assert check("think", thought="hm", security_risk="LOW") == Action("think", {"thought": "hm"})


@pytest.mark.parametrize(
    ("command", "given", "missing"),
    [
        ("create", {}, "file_text"),
        ("str_replace", {}, "old_str"),
        ("insert", {"insert_line": "1"}, "new_str"),
        ("insert", {"new_str": ""}, "insert_line"),
    ],
)
def test_each_command_of_the_editor_names_what_it_lacks(command: str, given: dict[str, str], missing: str) -> None:
    kind, text = refused("file_editor", command=command, path="/a", **given)
    assert kind is CallErrorKind.MISSING_PARAMETER
    assert text.startswith(f"Parameter '{missing}' (")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"command": "edit"}, "one of view, create, str_replace, insert, undo_edit"),
        ({"command": ""}, "one of view, create, str_replace, insert, undo_edit"),
        ({"path": " \n"}, "a word"),
        ({"insert_line": "1.0"}, "an integer"),
        ({"insert_line": ""}, "an integer"),
        ({"insert_line": "9" * 5000}, "an integer"),
        ({"view_range": "1, 2"}, "a list of integers such as [11, 12]"),
        ({"view_range": "[1, true]"}, "a list of integers such as [11, 12]"),
        ({"view_range": '{"a": 1}'}, "a list of integers such as [11, 12]"),
        ({"view_range": "[" * 100_000}, "a list of integers such as [11, 12]"),
    ],
)
def test_a_bad_value_says_what_was_wanted(arguments: dict[str, str], wanted: str) -> None:
    (name,) = arguments
    assert refused("file_editor", **arguments) == (
        CallErrorKind.BAD_VALUE,
        f"Parameter '{name}' must be {wanted}, so nothing was run.",
    )


@pytest.mark.parametrize("timeout", ["nan", "inf", "-1", "soon", "1e999", ""])
def test_a_time_limit_is_a_number_that_is_not_negative(timeout: str) -> None:
    assert refused("terminal", command="ls", timeout=timeout)[0] is CallErrorKind.BAD_VALUE


@given(
    st.sampled_from([name for tool in TOOLS for name in (tool.name, *tool.aliases)]) | st.text(max_size=10),
    st.dictionaries(
        st.sampled_from([p.name for tool in TOOLS for p in tool.parameters]) | st.text(max_size=5),
        st.text() | st.sampled_from(["1", "view", "insert", "[1]", "true", "[" * 2000]),
        max_size=5,
    ),
)
def test_any_call_is_an_action_or_an_error(name: str, arguments: dict[str, str]) -> None:
    result = check_call(Call(name, tuple(arguments.items()), SPAN))
    if isinstance(result, Action):
        assert set(result.arguments) <= set(arguments)
        assert name in next((t.name, *t.aliases) for t in TOOLS if t.name == result.tool)
