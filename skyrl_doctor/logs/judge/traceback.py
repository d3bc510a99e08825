"""What a traceback ends in: of errors that nothing else shows, its last line says more than its first."""

import dataclasses
import re

from skyrl_doctor.logs.judge.frames import last_frame
from skyrl_doctor.logs.judge.lines import CONTEXT, Line, shown
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.noise import clean, prefix

_MOST = 200
_RAISED = re.compile(rb"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?::|$)")
_TOLD = (b"raise_sys_exit_with_custom_error_message", b"SystemExit")
"""A worker that waits is told by Ray to end: so it does when a run has come to its end."""
_LONGEST = 1 << 12


class Raised:
    """Goes through the lines below the first of a traceback, in this block and in later ones.

    `whose` that line is, and the `stamp` that its program writes before each, mark those that belong to it.
    """

    def __init__(self, first: Line, *, whose: bytes, stamp: bytes) -> None:
        self._first, self._whose, self._stamp = first, whose, stamp
        self._number = first.number
        self._above = [(first.number, first.text.encode())]
        self._found: tuple[int, bytes] | None = None

    def take(self, block: Block, at: int = 0) -> bool:
        """Goes on in the block from that place on; whether the end is found, or too far away."""
        if at or not block.fresh:
            at = block.data.find(b"\n", at) + 1
            if not at:
                return False
        while 0 <= at < len(block.data) and not self._ended:
            end = block.data.find(b"\n", at)
            raw = block.data[at : end if end >= 0 else len(block.data)][:_LONGEST]
            self._number += 1
            if prefix(raw) == self._whose and (text := clean(raw)).startswith(self._stamp):
                self._judge(text[len(self._stamp) :].rstrip(b"\r"))
            at = end + 1 if end >= 0 else -1
        return self._ended

    def line(self) -> Line | None:
        """The last line, with the frame above it; none where no end was found."""
        if self._found is None:
            return None
        number, text = self._found
        above = self._above[-CONTEXT:]
        return dataclasses.replace(
            self._first,
            number=number,
            text=shown(text),
            frame=last_frame(b"\n".join(line for _, line in self._above), b""),
            context=(*((at, shown(line)) for at, line in above), (number, shown(text))),
        )

    @property
    def _ended(self) -> bool:
        return self._found is not None or self._number - self._first.number >= _MOST

    @property
    def told(self) -> bool:
        """Whether it is no error."""
        frame, name = _TOLD
        return self._found is not None and self._found[1].startswith(name) and frame in self._above[-1][1]

    def _judge(self, text: bytes) -> None:
        """What is neither of a traceback nor its end was written by another in between."""
        if _RAISED.match(text):
            self._found = (self._number, text)
        elif text.startswith((b" ", b"\t")):
            self._above.append((self._number, text))
