"""The SDK's own converter and action types as the judge of the parser. Each way to differ has a name and a reason."""

import collections
import functools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lanes.openhands.turns import WRITTEN, generated
from skyrl_train.contracts.agent.arguments import Action, check_call
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Call, CallError, CallErrorKind
from skyrl_train.contracts.agent.tools import TOOLS, ValueKind

pytestmark = pytest.mark.openhands

DOCS = Path(__file__).parents[3] / "docs" / "agent-calls.md"


def ours(text: str) -> Action | CallErrorKind:
    call = parse_call(text)
    result = check_call(call) if isinstance(call, Call) else call
    return result.kind if isinstance(result, CallError) else result


@functools.cache
def sdk_actions() -> dict[str, Any]:
    from openhands.sdk.tool.builtins.finish import FinishAction
    from openhands.sdk.tool.builtins.think import ThinkAction
    from openhands.tools.file_editor import FileEditorAction
    from openhands.tools.terminal import TerminalAction

    return {"terminal": TerminalAction, "file_editor": FileEditorAction, "finish": FinishAction, "think": ThinkAction}


@functools.cache
def sdk_tools() -> list[dict[str, Any]]:
    return [
        {"type": "function", "function": {"name": name, "parameters": action.to_mcp_schema()}}
        for name, action in sdk_actions().items()
    ]


def theirs(text: str) -> Action | str:
    """The action that the SDK would run, its values stripped as it does; or its complaint, or "no call"."""
    from openhands.sdk.llm.exceptions import FunctionCallValidationError
    from openhands.sdk.llm.mixins.fn_call_converter import convert_non_fncall_messages_to_fncall_messages
    from pydantic import ValidationError

    try:
        (message,) = convert_non_fncall_messages_to_fncall_messages(
            [{"role": "assistant", "content": text}], sdk_tools()
        )
    except FunctionCallValidationError as error:
        return str(error)
    if "tool_calls" not in message:
        return "no call"
    function = message["tool_calls"][0]["function"]
    arguments = json.loads(function["arguments"])
    arguments.pop("security_risk", None)  # as the agent does before it builds the action
    try:
        action = sdk_actions()[function["name"]].model_validate(arguments)
    except ValidationError as error:
        return str(error)
    return Action(function["name"], {name: getattr(action, name) for name in arguments})


def as_sdk(action: Action) -> Action:
    """The same with texts stripped and lists as lists: the SDK keeps no white space at the ends of a value."""
    return Action(action.tool, {name: _as_sdk(value) for name, value in action.arguments.items()})


def _as_sdk(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else list(value) if isinstance(value, tuple) else value


def in_thinking(text: str) -> bool:
    return bool(re.search(r"<function=.*</think>", text, re.DOTALL)) or ("<think>" in text and "</think>" not in text)


def mentioned(text: str) -> bool:
    return bool(re.search(r"<function=[^>]*>\s*(?!<parameter=|</|\s|$)", text))


def tag_in_value(text: str) -> bool:
    return any(quoted in text for quoted in ("'</parameter>'", "'</function>'", "'<function='", "#</function>#"))


def parameter_tag_in_value(text: str) -> bool:
    return "<parameter=a>\nE" in text or "'<parameter=x>'" in text


def left_open(text: str) -> bool:
    return bool(re.search(r"<parameter=\w+>(?:(?!</parameter>).)*?(?:<parameter=|</function|\Z)", text, re.DOTALL))


def text_between(text: str) -> bool:
    return bool(re.search(r"</parameter>\s*(?!<parameter=|</function|</?$|\s|$)", text))


def given_twice(text: str) -> bool:
    names = re.findall(r"<parameter=(\w+)", text)
    return len(names) > len(set(names))


REFUSED_BECAUSE: dict[CallErrorKind, dict[str, Callable[[str], bool]]] = {
    CallErrorKind.CALL_IN_THINKING: {"call in thinking": in_thinking},
    CallErrorKind.AMBIGUOUS_VALUE: {
        "parameter tag in a value": parameter_tag_in_value,
        "parameter left open": left_open,
        "text between the parameters": text_between,
        "tag in a value": tag_in_value,
    },
    CallErrorKind.STRAY_TEXT: {"text between the parameters": text_between, "tag in a value": tag_in_value},
    CallErrorKind.UNCLOSED_PARAMETER: {"parameter left open": left_open},
    CallErrorKind.BROKEN_PARAMETER: {
        "tag in a value": tag_in_value,
        "parameter tag in a value": parameter_tag_in_value,
    },
    CallErrorKind.DUPLICATE_PARAMETER: {"parameter given twice": given_twice},
    CallErrorKind.MISSING_PARAMETER: {"the editor's command needs more": lambda text: "<parameter=command" in text},
}
ACCEPTED_BECAUSE = {
    "call in thinking": in_thinking,
    "tag in a value": tag_in_value,
    "mention in prose": mentioned,
}


def why_different(text: str) -> str | None:
    """The name of the difference, None where there is none, "?" where nothing explains it."""
    our, their = ours(text), theirs(text)
    if isinstance(our, Action):
        if as_sdk(our) == their:
            return None
        reasons = ACCEPTED_BECAUSE
    elif isinstance(their, Action):
        # what stands in thinking, or after a call that does, is another call to each of the two
        reasons = REFUSED_BECAUSE.get(our, {}) | {"call in thinking": in_thinking, "tag in a value": tag_in_value}
    else:
        return None
    return next((name for name, holds in reasons.items() if holds(text)), "?")


@pytest.mark.parametrize("turns", [generated(2000), WRITTEN], ids=["generated", "written"])
def test_the_same_calls_are_accepted_with_the_same_values(turns: list[str]) -> None:
    differences = [(why_different(text), text) for text in turns]
    assert [text for why, text in differences if why == "?"] == []


def test_each_difference_occurs_and_is_documented() -> None:
    found = collections.Counter(why_different(text) for text in [*generated(2000), *WRITTEN])
    named = {name for reasons in [*REFUSED_BECAUSE.values(), ACCEPTED_BECAUSE] for name in reasons}
    assert set(found) == {None, *named}
    documented = set(re.findall(r"^\| ([^|]+?) \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE))
    assert named <= documented


def test_no_call_and_no_such_tool_mean_the_same_to_both() -> None:
    assert (ours("I am done."), theirs("I am done.")) == (CallErrorKind.NO_CALL, "no call")
    text = "<function=browse>\n<parameter=url>x</parameter>\n</function>"
    assert ours(text) is CallErrorKind.UNKNOWN_TOOL
    assert str(theirs(text)).startswith("Function 'browse' not found in available tools")


def test_the_tool_table_is_that_of_the_sdk() -> None:
    for tool in TOOLS:
        schema = sdk_actions()[tool.name].to_mcp_schema()
        types = {p.name: "string" if p.kind is ValueKind.WORD else p.kind.value for p in tool.parameters}
        assert types == {name: schema_of["type"] for name, schema_of in schema["properties"].items()}
        assert {p.name for p in tool.parameters if p.required} == set(schema["required"])
        choices = {p.name: list(p.choices) for p in tool.parameters if p.choices}
        assert choices == {name: p["enum"] for name, p in schema["properties"].items() if "enum" in p}


def test_every_alias_of_the_sdk_is_known() -> None:
    from openhands.sdk.llm.mixins.fn_call_converter import TOOL_NAME_ALIASES

    aliases = {alias: tool.name for tool in TOOLS for alias in tool.aliases}
    assert aliases == {**TOOL_NAME_ALIASES, "cmd_run": "terminal"}


def test_the_stop_string_is_that_of_the_sdk() -> None:
    from openhands.sdk.llm.mixins.fn_call_converter import STOP_WORDS

    from skyrl_train.contracts.agent.calls import STOP_STRING

    assert STOP_WORDS == [STOP_STRING]
