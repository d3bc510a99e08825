"""A known failure in a line that a terminal's width has cut: rich and its like print an error over several lines.

Asked only of the line that would be shown as unknown, so that it costs nothing while a log is read, and no line that means
something by itself is taken for a part of another.
"""

import re

from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.judge.evidence import happened
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import Known

_FRAME = " \t│┃|"
"""What rich draws at both ends of a line."""
_STAMP_ENDS = re.compile(r"[\])>|:] ")
"""What a program writes before each of its lines ends so: `ERROR 03-02 04:01:14 [core.py:718] `."""


def unwrapped(line: Line, patterns: Patterns) -> Known | None:
    """The cause that the line names together with those below it, where it names none by itself.

    Words are parted at a blank, which may be left out, or anywhere: both are tried.
    """
    below = [_bare(line.text, text) for number, text in line.context if number > line.number]
    head = line.text.rstrip(_FRAME)
    for count in range(1, len(below) + 1):
        for glue in (" ", ""):
            text = glue.join((head, *below[:count])).encode()
            if found := _named(text, len(head.encode()), patterns):
                return found
    return None


def _named(text: bytes, seam: int, patterns: Patterns) -> Known | None:
    """Only what begins in the line and goes on below it: the rest was looked at as it is."""
    for number in sorted({number for _, number in patterns.engine.places(text)} & patterns.of.keys()):
        match = patterns.search(number, text)
        if match is None or not match.start() < seam < match.end():
            continue
        for entry in (patterns.entries[at] for at in patterns.of[number]):
            if _is_cause(entry) and happened(entry.signature, text, match):
                return entry
    return None


def _is_cause(entry: Known) -> bool:
    signature = entry.signature
    return signature.role is Part.ROOT and signature.fatal and signature.at_least == 1 and not signature.near


def _bare(head: str, text: str) -> str:
    """A line without what stands before the one above as well."""
    stamps = (head[: found.end()] for found in _STAMP_ENDS.finditer(head))
    return text[max((len(stamp) for stamp in stamps if text.startswith(stamp)), default=0) :].strip(_FRAME)
