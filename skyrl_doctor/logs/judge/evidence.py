"""Whether a line that matches a pattern reports that it happened, or only mentions it."""

import re
from collections.abc import Set

from skyrl_doctor.core.signature import Part, Signature
from skyrl_doctor.logs.judge.quotations import is_quoted
from skyrl_doctor.logs.match.patterns import Patterns, compile_pattern
from skyrl_doctor.logs.match.phrases import is_advice, is_below_warning, is_tolerated


def is_evidence(signature: Signature, text: bytes, match: re.Match[bytes]) -> bool:
    """Whether the match reports the failure.

    A line below the level of a warning reports no cause, nor one of a program that does without what failed. The level does not count for signatures that must come several
    times, nor in the lines of HTTP servers.
    """
    if _is_advice(match, text):
        return False
    if signature.role is Part.ROOT and is_tolerated(text):
        return False
    if signature.unless and compile_pattern(signature.unless).search(text):
        return False
    if (
        signature.role is not Part.ROOT
        or not signature.fatal
        or signature.at_least > 1
        or "Uvicorn" in signature.pattern
        or b"HTTP/1" in text
    ):
        return True
    return _is_in_error_field(text, match) or not is_below_warning(_text_before(match, text, len(text)))


def is_mention(matched: Set[int], patterns: Patterns, text: bytes) -> bool:
    """Whether an error pattern matches only words that are quoted or part of advice."""
    found = (patterns.search(index, text) for index in matched & patterns.errors)
    return any(match is not None and (is_quoted(text, match.start()) or _is_advice(match, text)) for match in found)


def _is_advice(match: re.Match[bytes], text: bytes) -> bool:
    after = b"" if match[0].rstrip().endswith(b":") else text[match.end() : match.end() + 80]
    return is_advice(_text_before(match, text), after.decode("utf-8", "replace"))


def _is_in_error_field(text: bytes, match: re.Match[bytes]) -> bool:
    """Whether the match stands in the error field of a structured line: it reports an error at any level."""
    field = _ERROR_FIELD.search(text, 0, match.end())
    return field is not None and field.start() < match.start()


def _text_before(match: re.Match[bytes], text: bytes, width: int = 300) -> str:
    return text[max(0, match.start() - width) : match.start()].decode("utf-8", "replace")


_ERROR_FIELD = re.compile(rb"""\s(?:err|error|exception|cause)=["'](?:[^"'\\]|\\.)*\Z""")
"""A field such as `err="HTTP 500: out of memory"`, open at the end of the text."""
