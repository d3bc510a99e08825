"""The engine on RE2: says which patterns stand in a text, so that halving the text finds the lines."""

import itertools
from collections.abc import Iterator, Sequence

import re2  # noqa: TID253 -- this module is imported only where the extra is installed

from skyrl_doctor.logs.match.engine import Place, loose, places
from skyrl_doctor.logs.read.noise import ODD, spread

_AT_ONCE = 1 << 16
_MEMORY = 64 << 20


class Re2:
    """One automaton for all patterns."""

    def __init__(self, patterns: Sequence[str]) -> None:
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.never_nl = True
        options.max_mem = _MEMORY
        options.log_errors = False
        self._set = re2.Set.SearchSet(options)
        self._count = len(patterns)
        for pattern in patterns:
            self._set.Add(loose(pattern).encode())
        for odd in itertools.chain(*ODD.values()):
            self._set.Add(odd.encode())
        self._set.Compile()

    def places(self, data: bytes) -> list[Place]:
        return places(self._search, self._count, data)

    def ends(self, _: bytes) -> Sequence[int]:
        """`bytes.count` is as good."""
        return ()

    def _search(self, data: bytes) -> Iterator[Place]:
        start = 0
        while start < len(data):
            end = _line_end(data, start + _AT_ONCE, len(data))
            yield from self._halved(data, start, end)
            start = end

    def _halved(self, data: bytes, start: int, end: int) -> Iterator[Place]:
        """Depth: the logarithm of the lines."""
        numbers = self._set.Match(data[start:end])
        if not numbers:
            return
        middle = _line_end(data, (start + end) // 2, end)
        if middle == end:
            middle = _line_start(data, start, (start + end) // 2)
        if start < middle < end:
            yield from self._halved(data, start, middle)
            yield from self._halved(data, middle, end)
            return
        for number in numbers:
            yield from ((at, min(number, self._count)) for at in spread(start, end - 1))


def _line_end(data: bytes, at: int, end: int) -> int:
    """The place after the first end of a line from there on."""
    feed = data.find(b"\n", at, end) + 1 or end
    return data.find(b"\r", at, feed) + 1 or feed


def _line_start(data: bytes, start: int, at: int) -> int:
    return max(data.rfind(b"\n", start, at), data.rfind(b"\r", start, at)) + 1
