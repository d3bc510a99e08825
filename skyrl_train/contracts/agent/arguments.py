"""Checks a call against the tools: gives an action with typed arguments, or an error for the model."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from skyrl_train.contracts.agent.call_errors import call_error
from skyrl_train.contracts.agent.calls import Call, CallError, CallErrorKind
from skyrl_train.contracts.agent.tools import TOOLS, Parameter, Tool, ValueKind

Value = str | int | float | bool | tuple[int, ...]

TOLERATED = frozenset({"security_risk"})
"""Parameters that models learned to add to every call. They are dropped, as in the SDK."""


@dataclass(frozen=True, slots=True)
class Action:
    """A tool to run in the sandbox, by its current name, with the given arguments."""

    tool: str
    arguments: dict[str, Value]


def check_call(call: Call, tools: Sequence[Tool] = TOOLS) -> Action | CallError:
    """The action of a call, or a CallError if the call does not fit the tools."""
    tool = next((tool for tool in tools if call.name in (tool.name, *tool.aliases)), None)
    if tool is None:
        known = ", ".join(tool.name for tool in tools)
        return call_error(CallErrorKind.UNKNOWN_TOOL, call.span, subject=call.name, expected=known)
    parameters = {parameter.name: parameter for parameter in tool.parameters}
    arguments: dict[str, Value] = {}
    for name, text in call.arguments:
        if name in TOLERATED and name not in parameters:
            continue
        if name not in parameters:
            return call_error(
                CallErrorKind.UNKNOWN_PARAMETER, call.span, subject=name, expected=", ".join(parameters) or "none"
            )
        value = _typed(parameters[name], text)
        if value is None:
            return call_error(CallErrorKind.BAD_VALUE, call.span, subject=name, expected=_expected(parameters[name]))
        arguments[name] = value
    missing = next((p for p in tool.parameters if p.name not in arguments and _needed(p, arguments)), None)
    if missing is not None:
        return call_error(CallErrorKind.MISSING_PARAMETER, call.span, subject=missing.name, expected=missing.about)
    return Action(tool.name, arguments)


def _needed(parameter: Parameter, arguments: Mapping[str, Value]) -> bool:
    return parameter.required or arguments.get("command") in parameter.needed_for


def _typed(parameter: Parameter, text: str) -> Value | None:
    """The value, or None if the text is not of the parameter's kind."""
    if parameter.kind is ValueKind.TEXT:
        return text
    word = text.strip()
    if parameter.choices and word not in parameter.choices:
        return None
    try:
        return _READERS[parameter.kind](word)
    except (ValueError, KeyError, RecursionError):  # deep nesting of brackets raises RecursionError
        return None


def _word(text: str) -> str:
    if not text:
        raise ValueError("empty")
    return text


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number) or number < 0:
        raise ValueError(text)
    return number


def _boolean(text: str) -> bool:
    return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}[text.lower()]


def _integers(text: str) -> tuple[int, ...]:
    items = json.loads(text)
    if not isinstance(items, list) or not all(type(item) is int for item in items):
        raise ValueError(text)
    return tuple(items)


_READERS: Mapping[ValueKind, Callable[[str], Value]] = {
    ValueKind.WORD: _word,
    ValueKind.INTEGER: int,
    ValueKind.NUMBER: _number,
    ValueKind.BOOLEAN: _boolean,
    ValueKind.INTEGERS: _integers,
}

_KINDS = {
    ValueKind.WORD: "a word",
    ValueKind.INTEGER: "an integer",
    ValueKind.NUMBER: "a number that is not negative",
    ValueKind.BOOLEAN: "true or false",
    ValueKind.INTEGERS: "a list of integers such as [11, 12]",
}


def _expected(parameter: Parameter) -> str:
    return "one of " + ", ".join(parameter.choices) if parameter.choices else _KINDS[parameter.kind]
