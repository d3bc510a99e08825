"""Names an error that no signature matches, together with the lines below it.

Only the one line that would be reported as unknown is tried, so this costs nothing while a log is read, and it finds
nothing in a healthy log. First the line is joined with those below it, as rich and its like break an error into several
lines; then its topic is looked up: the thing and the trouble that it names, in any words.
"""

import functools
import re
from collections.abc import Iterator

from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.judge.evidence import is_evidence
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.match.errors import is_error
from skyrl_doctor.logs.match.patterns import Patterns, compile_pattern
from skyrl_doctor.logs.match.signatures import KnownFailure, load_topics

_FRAME = " \t│┃|"
"""Characters that rich draws at both ends of a line."""
_STAMP_ENDS = re.compile(r"[\])>|:] ")
"""The end of a stamp, which a program writes before each line: `ERROR 03-02 04:01:14 [core.py:718] `."""
_ERROR_BELOW = compile_pattern(r"\w(?:Error|Exception|Timeout): |\b(?:ERROR|FATAL|CRITICAL)\b|^[Ee]rror: ")
_CACHE_SIZE = 16
"""A log that is followed asks for the same line again and again."""


def find_named_failure(line: Line, patterns: Patterns) -> KnownFailure | None:
    """The failure that the line names, joined with those below it or by its topic."""
    return find_joined(line, patterns) or find_topic(line)


def find_joined(line: Line, patterns: Patterns) -> KnownFailure | None:
    """The root cause that matches the line only when the lines below are joined to it.

    A line is broken at a blank, which may be left out, or anywhere: both are tried.
    """
    below = [_without_stamp(line.text, text) for number, text in line.context if number > line.number]
    head = line.text.rstrip(_FRAME)
    for count in range(1, len(below) + 1):
        for separator in (" ", ""):
            text = separator.join((head, *below[:count])).encode()
            if found := _match_across(text, len(head.encode()), patterns):
                return found
    return None


def find_topic(line: Line) -> KnownFailure | None:
    """The one failure whose topic the line has, or else the first error below it; None if two failures fit."""
    for text in _errors(line):
        if found := _failures_of(text):
            return found[0] if len(found) == 1 else None
    return None


def _match_across(text: bytes, seam: int, patterns: Patterns) -> KnownFailure | None:
    """A root cause whose match begins before the seam and ends after it: each part was judged by itself before."""
    for number in sorted({number for _, number in patterns.engine.places(text)} & patterns.entries_of.keys()):
        match = patterns.search(number, text)
        if match is None or not match.start() < seam < match.end():
            continue
        for entry in (patterns.entries[at] for at in patterns.entries_of[number]):
            if _is_single_cause(entry) and is_evidence(entry.signature, text, match):
                return entry
    return None


def _is_single_cause(entry: KnownFailure) -> bool:
    signature = entry.signature
    return signature.role is Part.ROOT and signature.fatal and signature.at_least == 1 and not signature.near


def _without_stamp(head: str, text: str) -> str:
    """A line without the stamp that it shares with the one above."""
    stamps = (head[: found.end()] for found in _STAMP_ENDS.finditer(head))
    return text[max((len(stamp) for stamp in stamps if text.startswith(stamp)), default=0) :].strip(_FRAME)


def _errors(line: Line) -> Iterator[bytes]:
    yield line.text.encode()
    below = (text for number, text in line.context if number > line.number)
    yield from (text.encode() for text in below if _ERROR_BELOW.search(text.encode()) and is_error(text))


@functools.lru_cache(_CACHE_SIZE)
def _failures_of(text: bytes) -> tuple[KnownFailure, ...]:
    return tuple(topic for topic in load_topics() if _has_topic(text, topic))


def _has_topic(text: bytes, topic: KnownFailure) -> bool:
    match = compile_pattern(topic.signature.pattern).search(text)
    return match is not None and is_evidence(topic.signature, text, match)
