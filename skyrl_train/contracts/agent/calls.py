"""A function call of the model, or why its reply has none. docs/agent-calls.md describes the format.

<function=NAME>
<parameter=P>value</parameter>
</function>
"""

from dataclasses import dataclass
from enum import StrEnum

FUNCTION_OPEN, FUNCTION_CLOSE = "<function=", "</function>"
PARAMETER_OPEN, PARAMETER_CLOSE = "<parameter=", "</parameter>"
THINK_OPEN, THINK_CLOSE = "<think>", "</think>"

STOP_STRING = "</function"
"""The stop string of the engine. It may remove the string (vLLM's default) or keep it; both are parsed."""


class Ended(StrEnum):
    """Why the engine stopped."""

    STOP = "stop"
    LENGTH = "length"


class Repair(StrEnum):
    """The only repairs of the parser. Any other fault is an error that the model reads."""

    END_TAG = "end_tag"
    """`</function>` or a part of it is missing at the end of a reply that was not cut by length."""
    PARAMETER_TAG = "parameter_tag"
    """`<parameter=name=value</parameter>`, if the value has no `<`."""


class CallErrorKind(StrEnum):
    """Three groups: the reply has no call, the call cannot be parsed, no tool accepts the call."""

    EMPTY_REPLY = "empty_reply"
    NO_CALL = "no_call"
    CALL_IN_THINKING = "call_in_thinking"
    CUT_BY_LENGTH = "cut_by_length"

    STRAY_TEXT = "stray_text"
    BROKEN_PARAMETER = "broken_parameter"
    UNCLOSED_PARAMETER = "unclosed_parameter"
    AMBIGUOUS_VALUE = "ambiguous_value"
    DUPLICATE_PARAMETER = "duplicate_parameter"

    UNKNOWN_TOOL = "unknown_tool"
    UNKNOWN_PARAMETER = "unknown_parameter"
    MISSING_PARAMETER = "missing_parameter"
    BAD_VALUE = "bad_value"


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the reply: text[start:end]."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Call:
    """A call that can be run, with unchanged values. The text before `span` is the model's thought."""

    name: str
    arguments: tuple[tuple[str, str], ...]
    span: Span
    repairs: tuple[Repair, ...] = ()
    ignored_calls: int = 0
    """Further calls in the same reply. Only the first is run; the result names the number of ignored calls."""


@dataclass(frozen=True, slots=True)
class CallError:
    """Why nothing was run. `text` is for the model."""

    kind: CallErrorKind
    span: Span
    text: str
