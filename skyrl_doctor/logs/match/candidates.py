"""The places of a block where patterns may match. Any thread can find them: no earlier block is needed."""

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.match.engine import FEED_INTERVAL, Place
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.steps import thin_steps
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.noise import WINDOW, clean, line_bounds, strip_noise
from skyrl_doctor.logs.read.watch_lines import is_watch_line

FEW = 64
"""Up to so many places of a block are checked against the clean line here. Where there are more, most are one failure that
repeats, and soon saturated."""
MANY = 1 << 10
"""So many places of one pattern in a block are checked at once: a word such as `failed` may stand in each line of a flood."""
IsSurvived = Callable[[bytes], bool]
"""Whether an error only repeats one that the run has survived."""


@record
class Candidates:
    """A block and the places where patterns may match: position, pattern number, and line feeds before it.

    Arrays, because a block may have a hundred thousand places, and several blocks wait to be judged.
    """

    block: Block
    places: "array[int]"
    numbers: "array[int]"
    feeds_before: "array[int]"
    feeds: int

    @classmethod
    def of(cls, block: Block, found: Sequence[Place], feed_ends: Sequence[int] = ()) -> "Candidates":
        """Count the line feeds before each place. `feed_ends` are the positions after every so many feeds, if they are known."""
        data, feeds_before, at, feeds, index = block.data, array("Q"), 0, 0, 0
        for place in (*(place for place, _ in found), len(data)):
            index = bisect_right(feed_ends, place, index)
            if index and feed_ends[index - 1] > at:
                at, feeds = feed_ends[index - 1], index * FEED_INTERVAL
            feeds += data.count(b"\n", at, place)
            at = place
            feeds_before.append(feeds)
        feeds_before.pop()
        places, numbers = array("Q", (place for place, _ in found)), array("Q", (number for _, number in found))
        return cls(block, places, numbers, feeds_before, feeds)


def find_candidates(block: Block, patterns: Patterns, is_survived: IsSurvived | None = None) -> Candidates:
    """The candidates of a block, without places that match nothing in the clean line and without survived errors."""

    def is_step(line: bytes) -> bool:
        return not is_watch_line(line) and patterns.is_step(line)

    found: Sequence[Place] = patterns.engine.places(block.data)
    if is_survived or len(found) <= FEW:
        found = list(_checked(block.data, found, patterns, is_survived))
    found = _without_absent(block.data, found, patterns)
    thinned = thin_steps(block.data, found, patterns.steps, is_step, patterns.certain_step)
    return Candidates.of(block, thinned, patterns.engine.feed_ends(block.data))


def _without_absent(data: bytes, places: Sequence[Place], patterns: Patterns) -> Sequence[Place]:
    """The places without those of patterns that have many and match nowhere in the block."""
    if len(places) < MANY:
        return places
    counts = Counter(number for _, number in places)
    many = [number for number, count in counts.items() if count >= MANY and number not in patterns.steps]
    text = strip_noise(data) if many else b""
    absent = {number for number in many if not patterns.can_match(number, text)}
    return [place for place in places if place[1] not in absent] if absent else places


def _checked(
    data: bytes, places: Sequence[Place], patterns: Patterns, is_survived: IsSurvived | None
) -> Iterator[Place]:
    few, end, text, is_old = len(places) <= FEW, -1, b"", False
    for place in places:
        at, number = place
        if number in patterns.steps:
            yield place
            continue
        if at > end:
            start, end = line_bounds(data, at)
            raw = data[start:end]
            text = clean(raw) if few and len(raw) <= WINDOW else b""
            is_old = is_survived is not None and is_survived(raw)
        if (is_old and number in patterns.errors) or (text and patterns.search(number, text) is None):
            continue
        yield place
