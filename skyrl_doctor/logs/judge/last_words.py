"""The last lines of a file, where no line has the level of an error: which of them says that the run failed."""

import re

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.context import Context
from skyrl_doctor.logs.judge.lines import Line, LineBuilder, decode
from skyrl_doctor.logs.judge.quotations import Voice, is_quoted
from skyrl_doctor.logs.match.errors import Weight
from skyrl_doctor.logs.match.last_words import LINES, weigh_last_words
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.success import is_success
from skyrl_doctor.logs.read.noise import clean, prefix
from skyrl_doctor.logs.read.watch_lines import is_watch_line

_REACH = 1 << 13
"""The bytes at the end of a file that are searched."""

_RULE = re.compile(rb"\s*(?:-{40,}|={40,})\s*$")
_GOES_ON = re.compile(rb"\bWARNING\b|\bwill continue\b|\bdeprecated\b|\bSUMMARY\b")
"""In a box of a program that goes on."""
_MOST_BOXED = 40
_ENDING = 3
"""So many lines at the end may say that a program ended well."""


@record
class LastWords:
    """One of the last lines, and how much it says."""

    line: Line
    weight: Weight


def find_last_words(context: Context, patterns: Patterns, builder: LineBuilder, last_line: int) -> LastWords | None:
    """The line that says most of a failure, of the last lines of a file that is read; of equal ones the first."""
    found = _last_lines(context, last_line)
    best: LastWords | None = None
    boxed = _boxed([_shown(raw) for _, _, raw in found])
    last = found[-max(LINES, boxed) :]
    for index, (start, number, raw) in enumerate(last):
        line = _shown(raw)
        weight = _weigh(line, patterns, 0 if boxed else len(last) - index - 1)
        if weight is None or (best and weight <= best.weight) or context.voice(start, prefix(raw)) is not Voice.RUN:
            continue
        below = tuple((other, decode(clean(more))) for _, other, more in found if other > number)
        best = LastWords(builder.build_last(context.lookback, start, line, number, below), weight)
    return best


def find_success(context: Context, builder: LineBuilder, last_line: int) -> Line | None:
    """The last of the lines of a file that is read, if it says that a program ended well."""
    last = _last_lines(context, last_line)[-_ENDING:]
    for start, number, raw in reversed(last):
        line = _shown(raw)
        if is_success(decode(line)) and context.voice(start, prefix(raw)) is Voice.RUN:
            return builder.build_last(context.lookback, start, line, number, ())
    return None


def _last_lines(context: Context, last_line: int) -> list[tuple[int, int, bytes]]:
    """The lines at the end of a file that are not empty: their positions, numbers and texts."""
    end = context.lookback.end
    text = context.lookback.text(end - _REACH, end)
    at, number = end - len(text), last_line - text.rstrip(b"\n").count(b"\n")
    found: list[tuple[int, int, bytes]] = []
    for raw in text.rstrip(b"\n").split(b"\n"):
        if raw.strip():
            found.append((at, number, raw))
        at, number = at + len(raw) + 1, number + 1
    return found


def _shown(raw: bytes) -> bytes:
    """What a terminal shows of a line, without what the program that starts it writes before it."""
    return clean(raw.rstrip(b"\r").rpartition(b"\r")[2])


def _boxed(raws: list[bytes]) -> int:
    """The number of lines of a message between two rules that ends the file, as launchers write it; 0 where none does."""
    if not raws or not _RULE.match(raws[-1]):
        return 0
    for count, raw in enumerate(raws[-2:-_MOST_BOXED:-1], start=2):
        if _GOES_ON.search(raw):
            return 0
        if _RULE.match(raw):
            return count if count > 2 else 0
    return 0


def _weigh(line: bytes, patterns: Patterns, left: int) -> Weight | None:
    if is_watch_line(line) or is_quoted(line, len(line)) or patterns.matches_root(line):
        return None
    return weigh_last_words(decode(line), left)
