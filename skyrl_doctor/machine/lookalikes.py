"""Reads texts as people do: lookalike letters, invisible ones and escapes of a letter stand for plain letters."""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

Span = tuple[int, int]

_ESCAPE = r"\\u00[2-7][0-9a-fA-F]|&#(?:[3-9]\d|1[01]\d|12[0-6]);|&#x[2-7][0-9a-fA-F];"
_STRANGE = re.compile(
    rf"{_ESCAPE}|[\u00a0\u00ad\u0300-\u052f\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe00-\ufe0f\ufeff\uff01-\uffee]"
    "|[\U0001d400-\U0001d7ff]"
)
"""Not the accents and signs of Latin-1, as which binary data is read."""
_ALIKE = str.maketrans(
    "\u0430\u0410\u0432\u0412\u0435\u0415\u0456\u0406\u043a\u041a\u043c\u041c\u043d\u041d\u043e\u041e"
    "\u0440\u0420\u0441\u0421\u0442\u0422\u0443\u0423\u0445\u0425\u0455\u0405\u0458\u0408\u04bb\u04ba"
    "\u0501\u0500\u051b\u051a\u051d\u051c\u04cf\u04c0\u03b1\u03b2\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1"
    "\u03c4\u03c5\u03c7\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5"
    "\u03a7",
    "aAbBeEiIkKmMhHoOpPcCtTyYxXsSjJhHdDqQwWlLabeikvoptuxABEZHIKMNOPTYX",
)
"""Letters of Cyrillic and Greek that look like Latin ones."""


def spans(text: str, find: Callable[[str], Iterable[Span]]) -> Iterator[Span]:
    """What `find` finds in the plain text, as places of the text itself; nothing if it has no strange letters."""
    if _STRANGE.search(text) is None:
        return
    plain, places = _plain_text(text)
    yield from ((places[start], places[end]) for start, end in find(plain))


def _plain_text(text: str) -> tuple[str, list[int]]:
    """The plain text, and for each of its letters the place in the text; one more for its end."""
    letters: list[str] = []
    places: list[int] = []
    at = 0
    for match in _STRANGE.finditer(text):
        letters += text[at : match.start()]
        places += range(at, match.start())
        plain = _plain(match[0])
        letters += plain
        places += [match.start()] * len(plain)
        at = match.end()
    letters += text[at:]
    places += range(at, len(text) + 1)
    return "".join(letters), places


@functools.lru_cache(maxsize=4096)
def _plain(strange: str) -> str:
    """One plain letter, nothing for an invisible one, or the same letter."""
    if strange.startswith("\\"):
        return chr(int(strange[2:], 16))  # noqa: FURB166 -- no prefix that int knows
    if strange.startswith("&"):
        return chr(int(strange[3:-1], 16) if strange[2] == "x" else int(strange[2:-1]))
    if unicodedata.category(strange) in ("Mn", "Cf"):
        return ""
    plain = unicodedata.normalize("NFKD", strange)[0].translate(_ALIKE)
    return plain if plain.isascii() else strange
