"""Counts the error lines of a log that nothing ended: the scan keeps only the first of those that a run survives."""

import os

from skyrl_doctor.logs.judge.lines import decode
from skyrl_doctor.logs.match.errors import Weight, weigh
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.contents import open_blocks
from skyrl_doctor.logs.read.noise import WINDOW, clean, line_bounds
from skyrl_doctor.logs.read.watch_lines import is_watch_line

MAX_BYTES = 256 << 20
MAX_COUNTED = 10_000


def count_error_lines(file: str, patterns: Patterns, most: int = MAX_COUNTED) -> int | None:
    """The lines of a file that show an error. None for a file that is too large, holds more than `most` or is unreadable."""
    if not os.path.isfile(file):
        return None
    try:
        count = _count_up_to(file, patterns, most)
    except OSError:
        return None
    return count if count <= most else None


def _count_up_to(file: str, patterns: Patterns, most: int) -> int:
    """The error lines of a file, or more than `most` where these, or the bytes, are too many."""
    count = 0
    with open_blocks(file) as blocks:
        for block in (read() for read in blocks):
            count = most + 1 if block.start > MAX_BYTES else count + _count(block, patterns)
            if count > most:
                break
    return count


def _count(block: Block, patterns: Patterns) -> int:
    count, end = 0, -1
    for at, number in patterns.engine.places(block.data):
        if at <= end or number not in patterns.errors:
            continue
        start, line_end = line_bounds(block.data, at)
        text = clean(block.data[start : min(line_end, start + WINDOW)])
        if patterns.search(number, text) is None:
            continue
        end = line_end
        count += not is_watch_line(text) and (weigh(decode(text)) or Weight.LAST_WORDS) is not Weight.LAST_WORDS
    return count
