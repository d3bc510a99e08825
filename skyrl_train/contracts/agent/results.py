"""Shortens results for the model. The transcript keeps the full result."""

RESULT_CHARS = 30_000
"""Default of the most characters of a result that the model reads."""

_NOTICE = "\n[… {left_out} of {total} characters left out here …]\n"


def shortened(text: str, limit_chars: int = RESULT_CHARS) -> str:
    """At most this many characters: beginning and end, with a notice of what was left out in between."""
    if len(text) <= limit_chars:
        return text
    room = max(limit_chars - len(_NOTICE.format(left_out=len(text), total=len(text))), 0)
    tail = room // 2
    head = room - tail
    notice = _NOTICE.format(left_out=len(text) - room, total=len(text))
    return (text[:head] + notice + text[len(text) - tail :])[: max(limit_chars, 0)]


def result_message(tool: str, text: str, *, ignored_calls: int = 0) -> str:
    """The user message that answers a call."""
    message = f"EXECUTION RESULT of [{tool}]:\n{text}"
    if ignored_calls:
        message += f"\n[Only the first call of a reply is run; {ignored_calls} more were ignored.]"
    return message
