"""Collects the output of a command since the last report, and decodes it."""

from __future__ import annotations

import codecs

HALF_CHARS = 4 * 1024 * 1024
"""Characters kept at the beginning, and at the end. This limits the size of a transcript."""

_NOTICE = "\n[… {count} characters of output were not kept …]\n"


class Output:
    """Keeps the beginning and the end of a long output, and counts the characters in between."""

    def __init__(self, half: int = HALF_CHARS) -> None:
        self._half = half
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head: list[str] = []
        self._tail: list[str] = []
        self._head_chars = self._tail_chars = self._lost = 0

    def add(self, data: bytes, *, last: bool = False) -> None:
        """Adds output. `last`: the command has ended, so an incomplete character stays incomplete."""
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
        """The output since the last call. An incomplete character is kept for the next call."""
        if self._tail_chars > self._half:
            self._shorten()
        notice = _NOTICE.format(count=self._lost) if self._lost else ""
        text = "".join([*self._head, notice, *self._tail])
        self._head, self._tail = [], []
        self._head_chars = self._tail_chars = self._lost = 0
        return text

    def _shorten(self) -> None:
        text = "".join(self._tail)
        kept = text[-self._half :]
        self._lost += len(text) - len(kept)
        self._tail, self._tail_chars = [kept], len(kept)
