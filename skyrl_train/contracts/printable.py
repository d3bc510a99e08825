"""Makes text from outside safe to print: names, paths, log lines and model output may hold any character."""

import re

UNSAFE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and line feed, DEL, C1
    "\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"  # Unicode line ends; marks that reverse the text
    "\u00ad\u115f\u1160\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f"  # invisible
)
"""The characters that control a terminal, change the order of the text, or are invisible, as for a set of a regular expression.

Joiners stay: scripts and emoji need them.
"""
_UNSAFE = re.compile(f"[{UNSAFE}]")


def printable(text: str) -> str:
    """The text with characters that control a terminal as escapes. In JSON the escapes keep their meaning."""
    return _UNSAFE.sub(_escape, text)


def one_line(text: str) -> str:
    """The printable text with line feeds as escapes, so that a name cannot add a line."""
    return printable(text).replace("\n", "\\n")


def excerpt(text: str, most: int) -> str:
    """The begin of a text on one line, for a reason that other messages quote."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:most])


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code > 0xFFFF:  # as JSON writes it
        return f"\\u{0xD7C0 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\x{code:02x}" if code < 0x20 else f"\\u{code:04x}"
