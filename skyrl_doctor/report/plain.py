"""Makes quoted text safe to print: no colour codes, no control characters, nothing that UTF-8 or XML cannot hold.

Messages and evidence quote logs, variables and paths of the user's machine, so they may hold any byte.
"""

import re

from skyrl_train.contracts.printable import UNSAFE

_COLOUR = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_LINE_END = re.compile(r"\r\n?")
_UNPRINTABLE = re.compile(f"[{UNSAFE}\ud800-\udfff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(text: str) -> str:
    """The text without terminal codes. Other unprintable characters become escapes such as \\x00."""
    return _UNPRINTABLE.sub(_escaped, _COLOUR.sub("", _LINE_END.sub("\n", text)))


def encodable(text: str) -> str:
    """The text with each byte that was not UTF-8 as an escape."""
    return _SURROGATE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # how Python stores a byte that is not UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"
