"""Collects the output of a command since the last report, decodes it, and takes out what only asks the terminal."""

from __future__ import annotations

import codecs
import re

HALF_CHARS = 4 * 1024 * 1024
"""Characters kept at the beginning, and at the end. This limits the size of a transcript."""

# Where is the cursor, which terminal is this, which colours: a terminal would answer; to a model they are noise.
_QUERY = re.compile(r"\x1b\[(?:6n|>?0?c)|\x1b\]\d+(?:;[^;\x07\x1b]*)?;\?(?:\x07|\x1b\\)|\x1bP\$q[^\x1b]*\x1b\\")
_LONGEST_QUERY = 128
_OPEN = re.compile(r"\x1b(?:\[[0-9>]*|\][^\x07\x1b]*\x1b?|P[^\x1b]*\x1b?)?\Z")
_NOTICE = "\n[… {count} characters of output were not kept …]\n"


class Output:
    """Keeps the beginning and the end of a long output, and counts the characters in between."""

    def __init__(self, half: int = HALF_CHARS) -> None:
        self._half = half
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._open = ""  # the beginning of what may become a query
        self._head: list[str] = []
        self._tail: list[str] = []
        self._head_chars = self._tail_chars = self._lost = 0

    def add(self, data: bytes, *, last: bool = False) -> None:
        """Adds output. `last`: the command has ended, so an incomplete character stays incomplete."""
        text = self._without_queries(self._decoder.decode(data, final=last), last=last)
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

    def _without_queries(self, text: str, *, last: bool) -> str:
        text, self._open = self._open + text, ""
        found = None if last else _OPEN.search(text, max(len(text) - _LONGEST_QUERY, 0))
        if found:
            text, self._open = text[: found.start()], found[0]
        return _QUERY.sub("", text) if "\x1b" in text else text

    def _shorten(self) -> None:
        text = "".join(self._tail)
        kept = text[-self._half :]
        self._lost += len(text) - len(kept)
        self._tail, self._tail_chars = [kept], len(kept)
