"""The level of a line, read in its place: the header that a logger writes before the message.

A header is a row of clocks, brackets, names and separators, with one level among them. A level word in the message means
nothing: `RuntimeError: odd (run with NCCL_DEBUG=INFO for details)` has no level.
"""

import re
from enum import IntEnum
from typing import NamedTuple


class Level(IntEnum):
    """The levels that make a difference."""

    BELOW_WARNING = 0
    WARNING = 1
    ERROR = 2
    FATAL = 3


class Header(NamedTuple):
    """The level that a logger wrote, None where it wrote none, and where the message begins."""

    level: Level | None
    end: int


_WORDS = {
    Level.BELOW_WARNING: ("trace", "debug", "debu", "dbg", "info", "notice", "success"),
    Level.WARNING: ("warning", "warn"),
    Level.ERROR: ("error", "erro", "err", "eror"),
    Level.FATAL: ("fatal", "fata", "critical", "crit", "panic", "pani", "alert", "emerg"),
}
_SHORT_WORDS = {
    Level.BELOW_WARNING: ("trc", "dbg", "inf"),
    Level.WARNING: ("wrn",),
    Level.ERROR: ("err",),
    Level.FATAL: ("ftl", "pnc"),
}
"""zerolog's words. They count behind a clock only: INF is a number too."""
_BY_WORD = {word: level for words in (_WORDS, _SHORT_WORDS) for level, names in words.items() for word in names}
_BY_LETTER = {
    letter: level for level, letters in zip(Level, ("TDIV", "W", "E", "FC"), strict=True) for letter in letters
}
_UPPER = "|".join(sorted((word.upper() for words in _WORDS.values() for word in words), key=len, reverse=True))
_SHORT = "|".join(word.upper() for words in _SHORT_WORDS.values() for word in words)
_MAX_TOKENS, _MAX_WIDTH = 24, 240
_TOKEN = re.compile(
    rf"(?P<word>(?:{_UPPER})(?=[\s:|\]\[(,]|$)|(?i:error|fatal|critical|panic|warning|warn|info|debug|notice)(?=: )"
    r"|(?<=\[)(?:error|fatal|critical|crit|emerg|alert|warning|warn|info|debug|notice)(?=\s{0,6}\])"
    rf"|(?:(?<=[AP]M )|(?<=\dZ )|(?<=:\d\d ))(?:{_SHORT})(?= ))"
    r"|(?P<letter>[IWEF](?=\d{3,4} {1,2}\d\d:\d\d[:.])|[TDIWEFC](?= \d{1,8} \d{1,8}\])|(?<=: )[IWEF](?= [\w./-]{1,80}:\d+\])|(?<=\[)[IWEF](?= [\w./-]{1,80}\.(?:cpp|cc|cu|h|hpp):\d{1,5}\]))"
    r"|(?P<skip>[\s\[\]{}<>|:;,*#=-]+|\d[\d:.,/TZ+-]*(?:e\+\d+)?|\([^()\n]{0,100}\)"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun|UTC|AM|PM)\b"
    r"|[A-Za-z_]\w{0,60}\(\)(?= )"
    r"|NCCL(?= (?:INFO|WARN|TRACE|ERROR)\b)|(?:TP|DP|PP|EP)\d+(?=[ \]])"
    r"|(?!\w*(?:Error|Exception|Warning|Interrupt|Exit|Timeout)\b)[A-Za-z_][\w.@/-]{0,80}(?:\[\d{1,8}\])?(?=\s{0,12}[:|\])]| - |\[))"
)
_AFTER = re.compile(
    r"(?:[\s\]|:-]+|\[[^\[\]\n]{0,100}\]+|\d[\d:.,/TZ+-]*\]?|[\w./-]{1,80}:(?:\w{1,60}:)?\d+(?=\]| -)|\w{1,60}\.py:\d+)*"
)
"""What some loggers write between the level and the message: a clock, and the place in the code."""
_FIELD = re.compile(
    r"""\b(?:level|lvl)=["']?(?P<bare>\w+)|["'](?:level(?:name)?|severity|lvl)["']: ?["'](?P<quoted>\w+)["']"""
)
_WITHIN = re.compile(
    rf"(?P<first>\b(?:{_UPPER})) \d\d-\d\d \d\d:\d\d:\d\d\b|\b\d\d:\d\d:\d\d[\d.,]*(?: - [\w.-]{{1,60}})? [-| ]{{0,8}}(?P<last>(?:{_UPPER}))\b"
)
"""A header further right, where another program writes behind a progress bar."""


_STREAM = re.compile(r"\[?(?:stderr|stdout|STDERR|STDOUT)(?:\]:?|:| \||\s-) ?")
_INNER = re.compile(r"((?:INFO|DEBUG|WARNING))(?::|\s{1,6}\|?\s?(?=\d\d))\s{0,8}")
"""A stream of another program, and the header of its line."""


def parse_header(text: str) -> Header:
    """The header of a line that has neither colour codes nor the prefixes of its launcher."""
    field = _FIELD.search(text, 0, _MAX_WIDTH)
    if field and (word := (field["bare"] or field["quoted"]).lower()) in _BY_WORD:
        return Header(_BY_WORD[word], 0)
    at = 0
    for _ in range(_MAX_TOKENS):
        found = _TOKEN.match(text, at, _MAX_WIDTH)
        if found is None:
            break
        at = found.end()
        if found["skip"] is None:
            level = _BY_WORD[found["word"].lower()] if found["word"] else _BY_LETTER[found["letter"]]
            after = _AFTER.match(text, at, at + _MAX_WIDTH)
            return _unwrap(text, Header(level, after.end() if after else at))
    return Header(None, 0)


def _unwrap(text: str, header: Header) -> Header:
    """The header of the program whose line another one repeats: all that comes from its stderr may have the level ERROR."""
    stream = _STREAM.match(text, header.end)
    inner = _INNER.match(text, stream.end() if stream else header.end) if header.level is Level.ERROR else None
    if inner is not None:
        return Header(_BY_WORD[inner[1].lower()], inner.end())
    return Header(None, stream.end()) if stream else header


def last_level(text: str) -> Level | None:
    """The level of the last header in a text in which several lines follow each other."""
    level = parse_header(text).level
    for found in _WITHIN.finditer(text):
        level = _BY_WORD[(found["first"] or found["last"]).lower()]
    return level
