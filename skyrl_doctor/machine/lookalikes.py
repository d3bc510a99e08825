"""Reads texts as people do: lookalike letters, invisible ones and escapes of a letter stand for plain letters."""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

Span = tuple[int, int]

_ESCAPE = r"\\u00[2-7][0-9a-fA-F]|&#(?:[3-9]\d|1[01]\d|12[0-6]);|&#x[2-7][0-9a-fA-F];"
_STRANGE = re.compile(rf"{_ESCAPE}|[^\x00-\x7f\ud800-\udfff]")
"""An escape of a letter, or any letter and sign outside of ASCII. Surrogates are bytes that are no text."""
_ALIKE = str.maketrans(
    "\u0430\u0410\u0432\u0412\u0435\u0415\u0456\u0406\u043a\u041a\u043c\u041c\u043d\u041d\u043e\u041e"
    "\u0440\u0420\u0441\u0421\u0442\u0422\u0443\u0423\u0445\u0425\u0455\u0405\u0458\u0408\u04bb\u04ba"
    "\u0501\u0500\u051b\u051a\u051d\u051c\u04cf\u04c0\u03b1\u03b2\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1"
    "\u03c4\u03c5\u03c7\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5"
    "\u03a7",
    "aAbBeEiIkKmMhHoOpPcCtTyYxXsSjJhHdDqQwWlLabeikvoptuxABEZHIKMNOPTYX",
)
"""Letters of Cyrillic and Greek that look like Latin ones."""
_VARIANTS = str.maketrans(
    "\u0111\u0110\u0127\u0131\u0142\u0141\u00f8\u00d8\u0167\u0180\u0199\u01a5\u0237\u0251\u0261\u0269"
    "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18\u0280\ua731"
    "\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22",
    "dDhilLoOtbkpjagiabcdefghijklmnoprstuvwyz",
)
"""Latin letters that Unicode does not take apart: with strokes and hooks, and small capitals."""
_ALPHABETS = (0x1F150, 0x1F170, 0x1F1E6)
"""The first letters of white ones in circles and squares, and of flags."""
_INVISIBLE = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Besides marks and format characters."""


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
    if unicodedata.category(strange) in ("Mn", "Me", "Cf") or strange in _INVISIBLE:
        return ""
    for first in _ALPHABETS:
        if 0 <= ord(strange) - first < 26:
            return chr(ord("A") + ord(strange) - first)
    plain = unicodedata.normalize("NFKD", strange)[0].translate(_ALIKE).translate(_VARIANTS)
    return plain if plain.isascii() else strange
