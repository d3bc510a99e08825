"""What may be in a block, found in any thread: all that needs no knowledge of the blocks before it."""

from collections.abc import Callable, Iterator, Sequence

from skyrl_doctor.logs.match.engine import Place
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.pieces import Seen
from skyrl_doctor.logs.match.steps import thinned
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.noise import WINDOW, bounds, clean

OWN = b"skyrl-doctor watch: "
"""How the watch begins its lines in the job's log: they speak of failures, and are none."""
FEW = 64
"""So many places of a block are made sure of here. Of more, most are one failure over and over, and soon of no interest."""
Outlived = Callable[[bytes], bool]
"""Whether a line that looks like an error only repeats one that the run has outlived."""


def look(block: Block, patterns: Patterns, outlived: Outlived | None = None) -> Seen:
    """Without what shows no pattern in a clean line, and without errors that the run has outlived."""

    def is_step(line: bytes) -> bool:
        return not is_own(line) and patterns.is_step(line)

    found: Sequence[Place] = patterns.engine.places(block.data)
    if outlived or len(found) <= FEW:
        found = list(_needed(block.data, found, patterns, outlived))
    needed = thinned(block.data, found, patterns.steps, is_step, patterns.stepped)
    return Seen.of(block, needed, patterns.engine.ends(block.data))


def _needed(data: bytes, places: Sequence[Place], patterns: Patterns, outlived: Outlived | None) -> Iterator[Place]:
    few, end, text, is_old = len(places) <= FEW, -1, b"", False
    for place in places:
        at, number = place
        if number in patterns.steps:
            yield place
            continue
        if at > end:
            start, end = bounds(data, at)
            raw = data[start:end]
            text = clean(raw) if few and len(raw) <= WINDOW else b""
            is_old = outlived is not None and outlived(raw)
        if (is_old and number in patterns.suspects) or (text and patterns.search(number, text) is None):
            continue
        yield place


def is_own(line: bytes) -> bool:
    return line.lstrip().startswith(OWN)
