"""The output of a command since it was last told: bytes as they come, text as it is shown."""

from __future__ import annotations

import codecs

HALF_CHARS = 4 * 1024 * 1024
"""What is kept of the beginning, and as much of the end. A transcript must not grow without bounds."""

_NOTICE = "\n[… {count} characters of output were not kept …]\n"


class Output:
    """Keeps the beginning and the end of a long output; what lies between is counted."""

    def __init__(self, half: int = HALF_CHARS) -> None:
        self._half = half
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head: list[str] = []
        self._tail: list[str] = []
        self._head_chars = self._tail_chars = self._lost = 0

    def add(self, data: bytes, *, last: bool = False) -> None:
        """`last`: the command is over, and no rest of a character comes any more."""
        text = self._decoder.decode(data, final=last)
        room = self._half - self._head_chars
        head, tail = text[:room], text[room:] if room < len(text) else ""
        if head:
            self._head.append(head)
            self._head_chars += len(head)
        if tail:
            self._tail.append(tail)
            self._tail_chars += len(tail)
            if self._tail_chars > 2 * self._half:
                self._shorten()

    def take(self) -> str:
        """All since the last time. A character that is not whole yet stays for the next time."""
        if self._tail_chars > self._half:
            self._shorten()
        notice = _NOTICE.format(count=self._lost) if self._lost else ""
        text = "".join([*self._head, notice, *self._tail])
        self._head, self._tail = [], []
        self._head_chars = self._tail_chars = self._lost = 0
        return text

    def _shorten(self) -> None:
        whole = "".join(self._tail)
        kept = whole[-self._half :]
        self._lost += len(whole) - len(kept)
        self._tail, self._tail_chars = [kept], len(kept)
