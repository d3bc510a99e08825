"""Whether a line that a pattern matches says that the thing happened, or only speaks of it."""

import re
from collections.abc import Set

from skyrl_doctor.core.signature import Part, Signature
from skyrl_doctor.logs.judge.quotations import inline
from skyrl_doctor.logs.match.patterns import Patterns, compiled
from skyrl_doctor.logs.match.phrases import below_warning, is_advice

HEAD = 160
"""Where the level of a line stands."""


def happened(signature: Signature, text: bytes, match: re.Match[bytes]) -> bool:
    """What is below the level of a warning is no cause, but where it counts only as often as seen, and in servers' own lines."""
    if _advised(match, text):
        return False
    if signature.unless and compiled(signature.unless).search(text):
        return False
    if (
        signature.role is not Part.ROOT
        or not signature.fatal
        or signature.at_least > 1
        or "Uvicorn" in signature.pattern
        or b"HTTP/1" in text
    ):
        return True
    return not below_warning(text[: min(HEAD, match.start())].decode("utf-8", "replace"), _before(match, text))


def spoken_of(matched: Set[int], patterns: Patterns, text: bytes) -> bool:
    """Whether what looks like an error is only spoken of."""
    found = (patterns.search(index, text) for index in matched & patterns.suspects)
    return any(match is not None and (inline(text, match.start()) or _advised(match, text)) for match in found)


def _advised(match: re.Match[bytes], text: bytes) -> bool:
    after = b"" if match[0].rstrip().endswith(b":") else text[match.end() : match.end() + 80]
    return is_advice(_before(match, text), after.decode("utf-8", "replace"))


def _before(match: re.Match[bytes], text: bytes) -> str:
    return text[max(0, match.start() - 300) : match.start()].decode("utf-8", "replace")
