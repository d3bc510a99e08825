"""The first traceback of a file, followed to its last line: that names the error, and its first line does not."""

import dataclasses
import re

from skyrl_doctor.logs.judge.lines import CONTEXT, Line, decode, frames_above
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.levels import Level, parse_header
from skyrl_doctor.logs.read.noise import clean, prefix

_MAX_LINES = 200
_LAST_LINE = re.compile(rb"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?::|$)")
_STOPPED_BY_RAY = (b"raise_sys_exit_with_custom_error_message", b"SystemExit")
"""Frame and exception of an idle worker that Ray stops at the end of a run."""
_FRAME = re.compile(rb" {2,4}File (?:\"|\xe2\x80[\x9c-\x9f])")
_MAX_BYTES = 1 << 12


class Traceback:
    """Reads the lines below the first one, in its block and in later ones.

    A line belongs to it if it has the same process prefix and the same `stamp`, which a program writes before each line.
    """

    def __init__(self, first: Line, *, process: bytes, stamp: bytes) -> None:
        self.first = first
        self._process, self._stamp = process, stamp
        self._number = first.number
        self._above = [(first.number, first.text.encode())]
        self._last: tuple[int, bytes] | None = None

    def add_block(self, block: Block, at: int = 0) -> bool:
        """Read on in the block from that position; return whether the last line is found, or too far away."""
        if at or not block.fresh:
            at = block.data.find(b"\n", at) + 1
            if not at:
                return False
        while 0 <= at < len(block.data) and not self._is_read:
            end = block.data.find(b"\n", at)
            raw = block.data[at : end if end >= 0 else len(block.data)][:_MAX_BYTES]
            self._number += 1
            if prefix(raw) == self._process:
                self._add(clean(raw).rstrip(b"\r"))
            at = end + 1 if end >= 0 else -1
        return self._is_read

    def last_line(self) -> Line | None:
        """The last line with the frame above it; None where it was not found."""
        if self._last is None:
            return None
        number, text = self._last
        above, frames = self._above[-CONTEXT:], b"\n".join(line for _, line in self._above)
        frame, caller, own = frames_above(frames, b"")
        return dataclasses.replace(
            self.first,
            number=number,
            text=decode(text),
            frame=frame,
            caller=caller,
            own=own,
            context=(*((at, decode(line)) for at, line in above), (number, decode(text))),
        )

    @property
    def is_stopped_worker(self) -> bool:
        """Whether Ray stopped an idle worker, which is no error."""
        frame, name = _STOPPED_BY_RAY
        return self._last is not None and self._last[1].startswith(name) and frame in self._above[-1][1]

    @property
    def is_complete(self) -> bool:
        """Whether the last line was found."""
        return self._last is not None

    @property
    def is_error(self) -> bool:
        """Whether its logger wrote no level below that of an error."""
        return parse_header(self.first.text).level not in (Level.BELOW_WARNING, Level.WARNING)

    @property
    def _is_read(self) -> bool:
        return self._last is not None or self._number - self.first.number >= _MAX_LINES

    def _add(self, text: bytes) -> None:
        """Keep a frame or the last line. Any other line was written in between by another program."""
        if self._number == self.first.number + 1 and _FRAME.match(text):
            self._stamp = b""  # the text before the first line was a message, which is written once
        if not text.startswith(self._stamp):
            return
        text = text[len(self._stamp) :]
        if _LAST_LINE.match(text):
            self._last = (self._number, text)
        elif text.startswith((b" ", b"\t")):
            self._above.append((self._number, text))
