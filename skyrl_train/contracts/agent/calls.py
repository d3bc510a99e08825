"""A function call as the model wrote it, or why its reply holds none. The format is described in docs/agent-calls.md.

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
"""What the engine is told to stop at. It may strip the string (vLLM's default) or keep it: both parse alike."""


class Ended(StrEnum):
    """Why the engine stopped writing."""

    STOP = "stop"
    LENGTH = "length"


class Repair(StrEnum):
    """All that the parser mends. Whatever else is wrong is an error that the model gets to read."""

    END_TAG = "end_tag"
    """`</function>`, or the rest of it, is missing at the very end of a reply that the engine did not cut."""
    PARAMETER_TAG = "parameter_tag"
    """`<parameter=name=value</parameter>`, where the value holds no `<`."""


class CallErrorKind(StrEnum):
    """The first group says that there is no call, the second that it cannot be read, the third that no tool takes it."""

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
    """A call that can be run, its values to the byte. The text before `span` is the model's thought."""

    name: str
    arguments: tuple[tuple[str, str], ...]
    span: Span
    repairs: tuple[Repair, ...] = ()
    ignored_calls: int = 0
    """Further calls in the same reply. Only the first is run, and the model is told so."""


@dataclass(frozen=True, slots=True)
class CallError:
    """Why nothing was run. `text` is what the model reads."""

    kind: CallErrorKind
    span: Span
    text: str
