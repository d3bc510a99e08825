"""Signatures that were counted to their end, and the lines that are only one more of these. Little more is asked of them."""

from collections.abc import Callable, Sequence

from skyrl_doctor.logs.judge.quotations import Voice, tells
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.pieces import Key, Piece

_REMEMBERED, _SHORT = 4096, 1 << 10
"""What fails over and over prints the same lines: so many are known again, if they are no longer than this."""
Gap = Callable[[int, int, int], int | None]
"""How far above a line the near pattern of a signature stood, by its number, the line's end and its number; none if too far."""


class Spent:
    """`entries` are numbers of signatures."""

    def __init__(self, patterns: Patterns, gap: Gap) -> None:
        self._patterns, self._gap = patterns, gap
        self.entries: set[int] = set()
        self._known: dict[Key, Sequence[int]] = {}

    def skips(self, key: Key, end: int, number: int) -> bool:
        """Whether the same line was one more before, and what else it could show is not near now either."""
        waiting = self._known.get(key)
        return waiting is not None and not any(self._is_near(at, end, number) for at in waiting)

    def holds(self, piece: Piece, end: int, number: int) -> bool:
        """Whether the line shows what was counted to its end, and nothing else."""
        patterns, found, waiting = self._patterns, False, list[int]()
        if not self.entries or not piece.patterns.isdisjoint(patterns.special):
            return False
        for index in piece.patterns - patterns.suspects:
            left = [at for at in patterns.of[index] if at not in self.entries]
            full = self.entries.intersection(patterns.of[index])
            is_live = any(self._is_near(at, end, number) for at in left)
            if not is_live:
                waiting += left
            if not is_live and (found or not full):
                continue
            match = patterns.search(index, piece.text)
            if match and is_live:
                return False
            if match:
                found = found or any(
                    tells(patterns.entries[at].name, Voice.RUN, piece.text, match.start()) for at in full
                )
        if found and piece.key and len(piece.raw) <= _SHORT:
            self._known = self._known if len(self._known) < _REMEMBERED else {}
            self._known[piece.key] = waiting
        return found

    def _is_near(self, at: int, end: int, number: int) -> bool:
        return self._gap(at, end, number) is not None
