"""What stands in a line beside its text: colour codes, NUL bytes, the prefix that Ray puts before it."""

import re
from collections.abc import Iterable, Iterator

WINDOW, OVERLAP = 1 << 13, 1 << 11
"""A longer piece is looked at in windows that begin at multiples of WINDOW and run on into the next for OVERLAP."""
PART = 1 << 11
"""A piece of a line that is longer is cleaned in parts of this size, which overlap by half."""

_CODE = rb"(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\^_])"
_NOISE = re.compile(
    rb"\x1b(?<![0-9]\)\x1b)(?<! \x1b)" + _CODE + rb"|\x1b(?<=[0-9]\)\x1b)" + _CODE + rb"(?![ (\r\n]|$)"
    rb"|\x1b(?<= \x1b)" + _CODE + rb"(?!\()|\x00\x00*"
)
"""What stands before a code is looked at after its first byte: so Python's `re` runs from one such byte to the next."""
_PREFIX = re.compile(
    rb"(?:\s*(?:\x1b\[[0-9;]*m)?\s*(?:\[[\w.-]+\]\s*)?\((?:[\w.:<>-]+ )*pid=\d+(?:, ip=[\w.:-]+)?\)(?:\x1b\[[0-9;]*m)?){1,3}[ \t]?"
)
"""How Ray and vLLM mark whose line it is: (TaskRunner pid=123, ip=10.0.0.1); one in the other, if need be."""
_COLOUR = rb"(?:\x1b\[[0-9;]*m)?"
_LAUNCHER = re.compile(
    rb"(?:\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) [FP] |[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,60} (?=\w))?"
    rb"((?:"
    + _COLOUR
    + rb"(?:\d{1,5}: (?!['\x22])|\[(?:rank|default)\d{1,5}\]: ?|[\w.-]{1,60}-\d{1,3} {1,30}\| ?|(?:python[\d.]{0,5}|bash|sh|srun|env)\[\d{1,8}\]: )"
    + _COLOUR
    + rb"){0,2})"
)
"""What stands before each line of a process that was started by srun --label, torchrun, compose, Kubernetes or systemd; in
the group, what tells the processes apart."""

ODD = {
    b"\x1b": (
        r"[^\n\r) ]\x1b",
        r" \x1b\[[0-9;]*m[^(]",
        r"[^0-9]\)\x1b",
        r"\x1b(?:[^\[]|\[[0-9;]*(?:[^0-9;m]|m[^ (\n\r\x1b]))",
    ),
    b"\x00": (r"\x00[^\x00\n\r]",),
}
"""Where a code or a NUL parts what belongs together. Codes around Ray's prefix do not, and stand in every line of it."""


def clean(piece: bytes) -> bytes:
    """A line as it was meant, without the prefixes of what started its process, and of Ray."""
    piece = _LAUNCHER.sub(b"", piece, count=1)
    if b"pid=" in piece[:200]:
        piece = _PREFIX.sub(b"", piece, count=1)
    return uncoloured(piece)


def uncoloured(piece: bytes) -> bytes:
    return _NOISE.sub(b"", piece) if b"\x1b" in piece or b"\x00" in piece else piece


def prefix(piece: bytes) -> bytes:
    """Whose line it is; empty where none says so."""
    launched = _LAUNCHER.match(piece)
    whose, rest = (launched[1], piece[launched.end() :]) if launched else (b"", piece)
    found = _PREFIX.match(rest) if b"pid=" in rest[:200] else None
    return uncoloured(whose + found[0] if found else whose).strip()


def bounds(data: bytes, at: int) -> tuple[int, int]:
    """Start and end of the piece between line feeds or carriage returns in which a place lies."""
    start = data.rfind(b"\n", 0, at) + 1
    start = max(start, data.rfind(b"\r", start, at) + 1)
    end = data.find(b"\n", at)
    end = len(data) if end < 0 else end
    back = data.find(b"\r", at, end)
    return start, end if back < 0 else back


def spread(start: int, end: int) -> Iterator[int]:
    """Places that lie in each window of a piece."""
    yield from range(start, end, WINDOW)
    yield max(start, end - 1)


def odd_parts(data: bytes, places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The pieces in which the places lie, once each; long ones in parts."""
    done = -1
    for place in sorted(places):
        if place < done:
            continue
        start, done = bounds(data, place)
        if done - start <= PART:
            yield start, done
            continue
        for at in range(start, max(start + 1, done - PART // 2), PART // 2):
            yield at, min(at + PART, done)
