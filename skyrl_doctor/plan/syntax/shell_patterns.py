"""Shell patterns (`*`, `?`, `[a-z]`) and the expansions that use them: ${X%.*}, ${X##*/}, ${X//a/b}."""

import fnmatch
import functools
import re

from skyrl_doctor.core.errors import CouldNotLook

MOST_PATTERN = 256
MOST_TEXT = 4096


@functools.cache
def _compiled(pattern: str) -> "re.Pattern[str]":
    if len(pattern) > MOST_PATTERN or pattern.count("*") > 8:
        raise CouldNotLook("the pattern is too complex")
    return re.compile(fnmatch.translate(pattern.replace("[^", "[!")))


def matches(text: str, pattern: str) -> bool:
    """Whether the whole text matches the pattern. Raises CouldNotLook."""
    if len(text) > MOST_TEXT:
        raise CouldNotLook("the text is too long for a pattern")
    return _compiled(pattern).match(text) is not None


def without_prefix(text: str, pattern: str, *, longest: bool) -> str:
    """${X#pattern}, or ${X##pattern}."""
    ends = range(len(text), -1, -1) if longest else range(len(text) + 1)
    return next((text[end:] for end in ends if matches(text[:end], pattern)), text)


def without_suffix(text: str, pattern: str, *, longest: bool) -> str:
    """${X%pattern}, or ${X%%pattern}."""
    starts = range(len(text) + 1) if longest else range(len(text), -1, -1)
    return next((text[:start] for start in starts if matches(text[start:], pattern)), text)


def replaced(text: str, pattern: str, new: str, *, everywhere: bool) -> str:
    """${X/pattern/new}, or ${X//pattern/new}; a pattern that begins with # or % is anchored."""
    if pattern[:1] == "#":
        rest = without_prefix(text, pattern[1:], longest=True)
        return new + rest if rest != text else text
    if pattern[:1] == "%":
        rest = without_suffix(text, pattern[1:], longest=True)
        return rest + new if rest != text else text
    if not set(pattern) & set("*?["):
        return text.replace(pattern, new, -1 if everywhere else 1) if pattern else text
    made, at = "", 0
    while at < len(text):
        end = next((end for end in range(len(text), at, -1) if matches(text[at:end], pattern)), at)
        if end == at:
            made, at = made + text[at], at + 1
        elif not everywhere:
            return made + new + text[end:]
        else:
            made, at = made + new, end
    return made
