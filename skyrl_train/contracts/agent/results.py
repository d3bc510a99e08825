"""What the model is shown of a result. The transcript keeps the whole."""

RESULT_CHARS = 30_000
"""As much of a result as the model is shown unless the limits say otherwise."""

_NOTICE = "\n[… {left_out} of {total} characters left out here …]\n"


def shortened(text: str, limit_chars: int = RESULT_CHARS) -> str:
    """At most this many characters: the beginning, the end, and between them a notice of what was left out."""
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
