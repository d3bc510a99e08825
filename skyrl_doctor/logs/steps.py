"""Of many steps that end one after the other, the last few tell all: what they outlive is outlived."""

from collections.abc import Callable, Iterator, Sequence

from skyrl_doctor.logs.engine import Place
from skyrl_doctor.logs.noise import WINDOW, bounds, clean
from skyrl_doctor.logs.suspects import OUTLIVED


def thinned(data: bytes, places: Sequence[Place], step: int, is_step: Callable[[bytes], bool]) -> list[Place]:
    """Without the steps that nothing follows but further steps. A log may have one in ten lines."""
    return [place for run in _runs(places, step) for place in _last(data, run, is_step)]


def _runs(places: Sequence[Place], step: int) -> Iterator[Sequence[Place]]:
    """Steps that follow each other, and between them single places of other patterns."""
    begun = 0
    for at, place in enumerate(places):
        if place[1] != step:
            if begun < at:
                yield places[begun:at]
            yield (place,)
            begun = at + 1
    yield places[begun:]


def _last(data: bytes, run: Sequence[Place], is_step: Callable[[bytes], bool]) -> Sequence[Place]:
    """The first, which may share its line with what stands before, and the last that are steps indeed."""
    left, before = OUTLIVED, -1
    for at in range(len(run) - 1, 0, -1):
        start, end = bounds(data, run[at][0])
        if end - start > WINDOW:
            return run
        if start != before and is_step(clean(data[start:end])):
            left -= 1
        if not left:
            return (run[0], *run[at:])
        before = start
    return run
