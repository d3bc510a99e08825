"""What an error that no signature knows is about: its thing and its trouble, in whatever words.

Asked only of the line that would be shown as unknown and of those below it, so that it costs nothing while a log is
read, and finds nothing in a log that is well.
"""

import functools
from collections.abc import Iterator

from skyrl_doctor.logs.judge.evidence import happened
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.match.patterns import compiled
from skyrl_doctor.logs.match.phrases import is_suspect
from skyrl_doctor.logs.match.signatures import Known, topics

_SAME = 16
"""Who follows a log asks for the same line again and again."""


def meant(line: Line) -> Known | None:
    """The failure whose thing and trouble the line names, or else one of the lines below it that look like errors."""
    for text in _errors(line):
        if named := _about(text):
            return named[0] if len(named) == 1 else None
    return None


def _errors(line: Line) -> Iterator[bytes]:
    yield line.text.encode()
    below = (text for number, text in line.context if number > line.number)
    yield from (text.encode() for text in below if _LOOKS.search(text.encode()) and is_suspect(text))


@functools.lru_cache(_SAME)
def _about(text: bytes) -> tuple[Known, ...]:
    """Of more than one thing it says too much to be sure."""
    return tuple(known for known in topics() if _is_about(text, known))


def _is_about(text: bytes, known: Known) -> bool:
    match = compiled(known.signature.pattern).search(text)
    return match is not None and happened(known.signature, text, match)


_LOOKS = compiled(r"\w(?:Error|Exception|Timeout): |\b(?:ERROR|FATAL|CRITICAL)\b|^[Ee]rror: ")
