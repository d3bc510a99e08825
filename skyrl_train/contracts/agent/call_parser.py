"""Parses a reply of the model. All loops move only forward, so the time is linear in the length of the text."""

import re

from skyrl_train.contracts.agent.call_errors import call_error
from skyrl_train.contracts.agent.calls import (
    FUNCTION_CLOSE,
    FUNCTION_OPEN,
    PARAMETER_CLOSE,
    PARAMETER_OPEN,
    THINK_CLOSE,
    THINK_OPEN,
    Call,
    CallError,
    CallErrorKind,
    Ended,
    Repair,
    Span,
)

# Each pattern begins with a tag and does not backtrack (*+), so that no part of a reply is searched twice.
# "<function=terminal>\n<parameter=": a mention of a function in prose is followed by something else
_OPENING = re.compile(r"<function=([^<>\r\n]{1,128})>\s*+(?=<parameter=|</function>)")
# "<parameter=command=view</parameter>"
_BROKEN_PARAMETER = re.compile(r"<parameter=(\w{1,128})=([^<]*+)</parameter>\s*+", re.ASCII)
# "<parameter=command>"
_PARAMETER = re.compile(r"<parameter=([^<>=\r\n]{1,128})>")
# "<parameter=path>\n/testbed/a.py\n</parameter>\n": a complete parameter whose value has no tag and few brackets, like
# nearly all; the others are read in steps
_PLAIN = re.compile(
    r"<parameter=([^<>=\r\n]{1,128})>([^<]*+(?:<(?!/?(?:parameter|function))[^<]*+){0,32}+)</parameter>\s*+"
    r"(?=<parameter=|</function>)"
)
# "</parameter>\n<parameter=" or "</parameter>\n</function>": any other closing tag belongs to the value
_VALUE_END = re.compile(r"</parameter>\s*+(?=<parameter=|</function>)")

_NEWLINES = ("\n", "\r")
_END_TAG_PARTS = tuple(FUNCTION_CLOSE[:length] for length in range(1, len(FUNCTION_CLOSE)))


def parse_call(text: str, *, ended: Ended = Ended.STOP) -> Call | CallError:
    """The first call of a reply. A reply that was cut by the length limit is not repaired: an incomplete call is not run."""
    completed = text + _missing_end(text) if ended is Ended.STOP else text
    opening = _first_opening(completed)
    result = _read_call(completed, opening) if opening else _why_no_call(text)
    if ended is Ended.LENGTH and (isinstance(result, CallError) or result.repairs):
        return call_error(CallErrorKind.CUT_BY_LENGTH, Span(0, len(text)))
    return _within(result, len(text))


def _missing_end(text: str) -> str:
    """The end tag that the engine's stop string removed: FIX(AGT014). It counts only if the parser gets there."""
    if text.endswith(FUNCTION_CLOSE):
        return ""
    if not text.endswith(_END_TAG_PARTS):
        return FUNCTION_CLOSE
    kept = next(part for part in _END_TAG_PARTS if text.endswith(part))  # no part ends with another part
    return FUNCTION_CLOSE[len(kept) :]


def _within(result: Call | CallError, length: int) -> Call | CallError:
    """The result with its span limited to the original reply, and with the repair recorded if the end tag was missing."""
    if result.span.end <= length:
        return result
    span = Span(min(result.span.start, length), length)
    if isinstance(result, CallError):
        return CallError(result.kind, span, result.text)
    return Call(result.name, result.arguments, span, (*result.repairs, Repair.END_TAG), result.ignored_calls)


def _first_opening(text: str) -> re.Match[str] | None:
    """The first opening tag of a call outside <think> blocks, or None."""
    position = _answer_start(text)
    opening = _opening(text, position)
    while True:
        if opening and opening.start() < position:
            opening = _opening(text, position)
        think = text.find(THINK_OPEN, position, opening.start() if opening else len(text))
        if think < 0:
            return opening
        end = text.find(THINK_CLOSE, think)
        if end < 0:
            return None
        position = end + len(THINK_CLOSE)


def _opening(text: str, position: int) -> re.Match[str] | None:
    """The next opening tag, or None. The plain search is several times faster than the pattern and usually enough."""
    start = text.find(FUNCTION_OPEN, position)
    if start < 0:
        return None
    return _OPENING.match(text, start) or _OPENING.search(text, start + 1)


def _answer_start(text: str) -> int:
    """The end of thinking that the prompt opened: after the first </think> without an earlier <think> and not in a value."""
    end = text.find(THINK_CLOSE)
    if end < 0 or text.find(THINK_OPEN, 0, end) >= 0:
        return 0
    opening = _OPENING.search(text, 0, end)
    call = _read_call(text, opening) if opening else None
    in_a_value = isinstance(call, Call) and call.span.end > end
    return 0 if in_a_value else end + len(THINK_CLOSE)


def _why_no_call(text: str) -> CallError:
    everything = Span(0, len(text))
    if not text.strip():
        return call_error(CallErrorKind.EMPTY_REPLY, everything)
    start = text.rfind(FUNCTION_OPEN)
    if start < 0:
        return call_error(CallErrorKind.NO_CALL, everything)
    if text.find(THINK_CLOSE, start) >= 0 or text.rfind(THINK_OPEN, 0, start) > text.rfind(THINK_CLOSE, 0, start):
        return call_error(CallErrorKind.CALL_IN_THINKING, Span(start, len(text)))
    name = re.split(r"[<>\s]", text[start + len(FUNCTION_OPEN) :][:128], maxsplit=1)[0]
    return call_error(CallErrorKind.STRAY_TEXT, Span(start, len(text)), subject=name)


def _read_call(text: str, opening: re.Match[str]) -> Call | CallError:
    arguments: dict[str, str] = {}
    repairs: tuple[Repair, ...] = ()
    name, position = "", opening.end()
    while not text.startswith(FUNCTION_CLOSE, position):
        plain = _PLAIN.match(text, position)
        if plain:
            name, value = plain.groups()
            end = plain.end()
        else:
            parameter = _odd_parameter(text, position, opening[1])
            if isinstance(parameter, CallError):
                return parameter
            name, value, end, repaired = parameter
            repairs = repairs or repaired
        if name in arguments:
            return call_error(CallErrorKind.DUPLICATE_PARAMETER, Span(position, end), subject=name)
        arguments[name] = _unwrapped(value) if value[:1] in _NEWLINES else value
        position = end
    end = position + len(FUNCTION_CLOSE)
    following = text.find(FUNCTION_OPEN, end)
    if text.find(PARAMETER_CLOSE, end, following if following >= 0 else len(text)) >= 0:
        # a closing tag without an opening one: the call ended too early, inside a value that contains tags
        return call_error(CallErrorKind.AMBIGUOUS_VALUE, Span(opening.start(), len(text)), subject=name)
    ignored = sum(1 for _ in _OPENING.finditer(text, end)) if following >= 0 else 0
    return Call(opening[1], tuple(arguments.items()), Span(opening.start(), end), repairs, ignored)


_Parameter = tuple[str, str, int, tuple[Repair, ...]]
"""Name, value, start of the next tag, and repairs."""


def _odd_parameter(text: str, position: int, function: str) -> _Parameter | CallError:
    """A parameter whose value contains tags, or whose own tags are broken."""
    tag = _PARAMETER.match(text, position)
    end = _value_end(text, tag.end()) if tag else None
    if tag is None or end is None:
        return _repaired_parameter(text, position) or _why_no_parameter(text, position, function)
    value = text[tag.end() : end.start()]
    if PARAMETER_OPEN in value or value.rstrip().endswith(PARAMETER_CLOSE):
        return call_error(CallErrorKind.AMBIGUOUS_VALUE, Span(position, end.end()), subject=tag[1])
    return tag[1], value, end.end(), ()


def _value_end(text: str, start: int) -> re.Match[str] | None:
    """The first closing tag that is followed by another tag, or None."""
    close = text.find(PARAMETER_CLOSE, start)  # several times faster than the pattern, and usually enough
    if close < 0:
        return None
    return _VALUE_END.match(text, close) or _VALUE_END.search(text, close + 1)


def _repaired_parameter(text: str, position: int) -> _Parameter | None:
    broken = _BROKEN_PARAMETER.match(text, position)
    return (broken[1], broken[2], broken.end(), (Repair.PARAMETER_TAG,)) if broken else None


def _why_no_parameter(text: str, position: int, function: str) -> CallError:
    here = Span(position, len(text))
    if not text.startswith(PARAMETER_OPEN, position):
        return call_error(CallErrorKind.STRAY_TEXT, here, subject=function)
    tag = _PARAMETER.match(text, position)
    if tag is None:
        return call_error(CallErrorKind.BROKEN_PARAMETER, here, subject=function)
    if text.find(PARAMETER_CLOSE, position) >= 0:
        return call_error(CallErrorKind.STRAY_TEXT, here, subject=function)
    return call_error(CallErrorKind.UNCLOSED_PARAMETER, here, subject=tag[1])


def _unwrapped(value: str) -> str:
    """A value of several lines without the one newline on each side; nothing else is changed."""
    newline = "\n" if value[0] == "\n" else "\r\n"
    if value == newline or not value.startswith(newline):
        return "" if value == newline else value
    return value[len(newline) : -len(newline)] if value.endswith(newline) else value
