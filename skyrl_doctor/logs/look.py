"""What may be in a block, found in any thread: all that needs no knowledge of the blocks before it."""

from collections.abc import Callable

from skyrl_doctor.logs.blocks import Block
from skyrl_doctor.logs.engine import Place
from skyrl_doctor.logs.noise import bounds
from skyrl_doctor.logs.patterns import Patterns
from skyrl_doctor.logs.pieces import Seen
from skyrl_doctor.logs.steps import thinned

OWN = b"skyrl-doctor watch: "
"""How the watch begins its lines in the job's log: they speak of failures, and are none."""


def look(block: Block, patterns: Patterns, outlived: Callable[[bytes], bool] = lambda _: False) -> Seen:
    """Without the errors that the run has outlived."""

    def is_step(line: bytes) -> bool:
        return not is_own(line) and patterns.is_step(line)

    def is_old(place: Place) -> bool:
        return place[1] in patterns.suspects and outlived(block.data[slice(*bounds(block.data, place[0]))])

    places = [place for place in patterns.engine.places(block.data) if not is_old(place)]
    return Seen.of(block, thinned(block.data, places, patterns.steps, is_step, patterns.stepped))


def is_own(line: bytes) -> bool:
    return line.lstrip().startswith(OWN)
