"""The noise of a line: colour codes, NUL bytes, and the prefixes that Ray and launchers write before it."""

import re
from collections.abc import Iterable, Iterator

WINDOW, OVERLAP = 1 << 13, 1 << 11
"""A longer line is judged in windows that begin at multiples of WINDOW and overlap the next one by OVERLAP."""
PART = 1 << 11
"""A longer noisy line is cleaned in parts of this size, which overlap by half."""

_CODE = rb"(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\^_])"
_NOISE = re.compile(
    rb"\x1b(?<![0-9]\)\x1b)(?<! \x1b)" + _CODE + rb"|\x1b(?<=[0-9]\)\x1b)" + _CODE + rb"(?![ (\r\n]|$)"
    rb"|\x1b(?<= \x1b)" + _CODE + rb"(?!\()|\x00\x00*"
)
"""The text before a code is checked after the first byte of the code: so Python's `re` jumps from one such byte to the next."""
_PREFIX = re.compile(
    rb"(?:\s*(?:\x1b\[[0-9;]*m)?\s*(?:\[[\w.-]+\]\s*)?\((?:[\w.:<>-]+ )*pid=\d+(?:, ip=[\w.:-]+)?\)(?:\x1b\[[0-9;]*m)?){1,3}[ \t]?"
)
"""The process prefix of Ray and vLLM: (TaskRunner pid=123, ip=10.0.0.1). Up to three may follow each other."""
_COLOUR = rb"(?:\x1b\[[0-9;]*m)?"
_LAUNCHER_PREFIX = re.compile(
    rb"(?:\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) [FP] |[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,60} (?=\w)|(?:#\d{1,4} )?(?:\d\.\d{3}|\d\d\.\d\d|\d{3,5}\.\d) (?!\s{0,20}[\d.-]{1,20}(?:\s|$)))?"
    rb"((?:"
    + _COLOUR
    + rb"(?:\d{1,5}: (?!['\x22])|\[(?:rank|default)\d{1,5}\]: ?|[\w.-]{1,60}-\d{1,3} {1,30}\| ?|(?:python[\d.]{0,5}|bash|sh|srun|env)\[\d{1,8}\]: )"
    + _COLOUR
    + rb"){0,2})"
)
"""The prefix of srun --label, torchrun, compose, Kubernetes, systemd or docker build. The group tells the processes apart."""

SPLITTING = {
    b"\x1b": (
        r"[^\n\r) ]\x1b",
        r" \x1b\[[0-9;]*m[^(]",
        r"[^0-9]\)\x1b",
        r"\x1b(?:[^\[]|\[[0-9;]*(?:[^0-9;m]|m[^ (\n\r\x1b]))",
    ),
    b"\x00": (r"\x00[^\x00\n\r]",),
}
"""Patterns for codes and NULs within text. Codes around Ray's prefix do not match: every line of Ray has them."""


def clean(piece: bytes) -> bytes:
    """The text of a line without codes and without the prefixes of its launcher and of Ray."""
    piece = _LAUNCHER_PREFIX.sub(b"", piece, count=1)
    if b"pid=" in piece[:200]:
        piece = _PREFIX.sub(b"", piece, count=1)
    return strip_noise(piece)


def strip_noise(piece: bytes) -> bytes:
    """The text without codes and NUL bytes."""
    return _NOISE.sub(b"", piece) if b"\x1b" in piece or b"\x00" in piece else piece


def prefix(piece: bytes) -> bytes:
    """The prefix that names the process of a line; empty where it has none."""
    launched = _LAUNCHER_PREFIX.match(piece)
    process, rest = (launched[1], piece[launched.end() :]) if launched else (b"", piece)
    found = _PREFIX.match(rest) if b"pid=" in rest[:200] else None
    return strip_noise(process + found[0] if found else process).strip()


def line_bounds(data: bytes, at: int) -> tuple[int, int]:
    """Start and end of the text around a position, between line feeds or carriage returns."""
    start = data.rfind(b"\n", 0, at) + 1
    start = max(start, data.rfind(b"\r", start, at) + 1)
    end = data.find(b"\n", at)
    end = len(data) if end < 0 else end
    back = data.find(b"\r", at, end)
    return start, end if back < 0 else back


def window_positions(start: int, end: int) -> Iterator[int]:
    """A position in each window of a line."""
    yield from range(start, end, WINDOW)
    yield max(start, end - 1)


def noisy_parts(data: bytes, places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The bounds of the lines around the places, once each; long lines in parts."""
    done = -1
    for place in sorted(places):
        if place < done:
            continue
        start, done = line_bounds(data, place)
        if done - start <= PART:
            yield start, done
            continue
        for at in range(start, max(start + 1, done - PART // 2), PART // 2):
            yield at, min(at + PART, done)
