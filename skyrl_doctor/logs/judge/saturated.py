"""Skips lines that only show saturated signatures: those whose hits are counted no further."""

from collections.abc import Callable, Sequence, Set

from skyrl_doctor.logs.judge.quotations import Voice, counts_as_evidence
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.pieces import Key, Piece

_MAX_KEYS, _MAX_LINE = 4096, 1 << 10
"""A failure that repeats prints equal lines: so many lines up to this length are remembered."""
Distance = Callable[[int, int, int], int | None]
"""Lines between a signature's near pattern and a line, by the signature's index and the line's end and number."""


class SaturatedLines:
    """Recognises lines without new evidence. `saturated` holds indices of signatures and grows while the log is read."""

    def __init__(self, patterns: Patterns, distance: Distance, saturated: Set[int]) -> None:
        self._patterns, self._distance, self._saturated = patterns, distance, saturated
        self._unsaturated_by_key: dict[Key, Sequence[int]] = {}

    def is_repeat(self, key: Key, end: int, number: int) -> bool:
        """Whether an equal line was skipped before, and no near pattern makes it evidence of something else here."""
        unsaturated = self._unsaturated_by_key.get(key)
        return unsaturated is not None and not any(self._is_near(at, end, number) for at in unsaturated)

    def is_saturated(self, piece: Piece, end: int, number: int) -> bool:
        """Whether the line is evidence of saturated signatures and of nothing else."""
        patterns, found, unsaturated = self._patterns, False, list[int]()
        if not self._saturated or not piece.patterns.isdisjoint(patterns.special):
            return False
        for index in piece.patterns - patterns.errors:
            live = [at for at in patterns.entries_of[index] if at not in self._saturated]
            full = [at for at in patterns.entries_of[index] if at in self._saturated]
            is_live = any(self._is_near(at, end, number) for at in live)
            if not is_live:
                unsaturated += live
            if not is_live and (found or not full):
                continue
            match = patterns.search(index, piece.text)
            if match and is_live:
                return False
            if match:
                names = (patterns.entries[at].name for at in full)
                found = found or any(counts_as_evidence(name, Voice.RUN, piece.text, match.start()) for name in names)
        if found and piece.key and len(piece.raw) <= _MAX_LINE:
            if len(self._unsaturated_by_key) >= _MAX_KEYS:
                self._unsaturated_by_key = {}
            self._unsaturated_by_key[piece.key] = unsaturated
        return found

    def _is_near(self, at: int, end: int, number: int) -> bool:
        return self._distance(at, end, number) is not None
