"""Writes a call in the format of the model."""

from collections.abc import Sequence

from skyrl_train.contracts.agent.call_errors import call_error
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import FUNCTION_CLOSE, Call, CallError, CallErrorKind, Span


def format_call(name: str, arguments: Sequence[tuple[str, str]]) -> str | CallError:
    """A text that parses back to this call, or an error if a value contains tags that would end it early."""
    lines = [f"<function={name}>"]
    for parameter, value in arguments:
        wrap = "\n" if "\n" in value else ""
        lines.append(f"<parameter={parameter}>{wrap}{value}{wrap}</parameter>")
    text = "\n".join([*lines, FUNCTION_CLOSE])
    if parse_call(text) == Call(name, tuple(arguments), Span(0, len(text))):
        return text
    return call_error(CallErrorKind.AMBIGUOUS_VALUE, Span(0, len(text)), subject=name)
