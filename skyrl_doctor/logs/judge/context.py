"""What a line is judged by besides its own text: who wrote it, and which patterns matched above it."""

from collections.abc import Set

from skyrl_doctor.logs.judge.lookback import Lookback, NearPatterns
from skyrl_doctor.logs.judge.quotations import Quotations, Voice
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.read.blocks import Block


class Context:
    """The text above the current line of one file. Lines must be asked about in order."""

    def __init__(self, patterns: Patterns) -> None:
        self._patterns = patterns
        self.lookback = Lookback()
        self._quotations = Quotations()
        self._near = NearPatterns()

    def add_block(self, block: Block) -> None:
        """Make this the current block."""
        self.lookback.add_block(block)
        self._near.start_block()

    def record_far(self, numbers: Set[int], number: int) -> None:
        """Note the line of near patterns that may stand far above: the engine searches for them everywhere."""
        for far in numbers & self._patterns.far.keys():
            self._near.record_far(self._patterns.far[far], number)

    def voice(self, start: int, process: bytes) -> Voice:
        """Who wrote the line that starts there."""
        return self._quotations.voice(self.lookback, start, process)

    def distance(self, index: int, end: int, number: int) -> int | None:
        """Lines between a signature's near pattern and the line that ends there; None where it is too far away."""
        return self._near.distance(self._patterns.entries[index].signature, self.lookback, end, number)
