"""Scans one log as it comes: bytes in, hits out. The same bytes give the same hits, however they are cut."""

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator

from skyrl_doctor.core.record import record
from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.judge.clusters import Cluster
from skyrl_doctor.logs.judge.evidence import happened, spoken_of
from skyrl_doctor.logs.judge.frames import last_frame
from skyrl_doctor.logs.judge.lines import REACHED, After, Line, before, shown
from skyrl_doctor.logs.judge.lookback import Behind, Sighting
from skyrl_doctor.logs.judge.near import Near
from skyrl_doctor.logs.judge.quotations import Quotes, Voice, inline, tells
from skyrl_doctor.logs.judge.saturated import Spent
from skyrl_doctor.logs.judge.steps import Mark, Steps, clock_at
from skyrl_doctor.logs.judge.topics import meant
from skyrl_doctor.logs.judge.traceback import Raised
from skyrl_doctor.logs.judge.unmatched import COUNTED, RETRIED, Suspects
from skyrl_doctor.logs.judge.wrapped import unwrapped
from skyrl_doctor.logs.match.candidates import is_own, look
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.phrases import is_retried, is_suspect, repeated
from skyrl_doctor.logs.match.pieces import Key, Piece, Seen, pieces
from skyrl_doctor.logs.match.signatures import Known
from skyrl_doctor.logs.read.blocks import Block, Blocks
from skyrl_doctor.logs.read.clock import CLOCK, first_clock

KEPT = 64
"""Hits kept of one signature in one file; the rest are counted."""


@record
class Hit:
    """A line and the signature that it matches; `gap` is how far above it the near pattern stood."""

    known: Known
    line: Line
    gap: int = 0


@record(kw_only=True)
class Scan:
    """What one file holds; `named` is the cause that its suspect names, if it is read again and with the lines below."""

    file: str
    hits: tuple[Hit, ...]
    counts: dict[Known, int]
    suspect: Line | None = None
    named: Known | None = None
    traceback: Line | None = None
    cluster: Cluster | None = None
    done: Line | None = None
    steps: tuple[Mark, ...] = ()


class Scanner:
    """Reads one file to its end. `feed` and `flush` give the hits that are new; `finish` all that was found."""

    def __init__(self, file: str, patterns: Patterns, *, order: int = 0) -> None:
        self._file, self._order, self._patterns = file, order, patterns
        self._blocks, self._behind = Blocks(), Behind()
        self._number = 1
        self._clock, self._quotes = Sighting(CLOCK), Quotes()
        self._near = Near()
        self._hits: list[Hit] = []
        self._counts: Counter[int] = Counter()
        self._counted: dict[int, int] = {}
        self._spent = Spent(patterns, self._gap)
        self._suspects = Suspects()
        self._traceback: Line | None = None
        self._raised: Raised | None = None
        self._done: Line | None = None
        self._retried: Counter[int] = Counter()
        self._steps = Steps(file)
        self._full: set[int] = set()
        self._kept: Counter[int] = Counter()
        self._named: dict[tuple[str, str], int] = {}
        self._after: dict[int, After] = {}
        self._waiting: list[int] = []

    def feed(self, chunk: bytes) -> tuple[Hit, ...]:
        """The next bytes. Lines are looked at when a block of them is full, or with `flush`."""
        return self._read(self._blocks.feed(chunk))

    def flush(self) -> tuple[Hit, ...]:
        """Looks at all lines that are whole by now, for who follows a log that grows."""
        return self._read(self._blocks.flush())

    def finish(self) -> Scan:
        """All that was found, the last line included, whole or not."""
        self._read(self._blocks.finish())
        return self.snapshot()

    def snapshot(self) -> Scan:
        """All that was found up to now."""
        suspect = self._suspects.line and self._whole(self._suspects.line)
        return Scan(
            file=self._file,
            hits=tuple(dataclasses.replace(hit, line=self._whole(hit.line)) for hit in self._hits),
            counts={self._patterns.entries[at]: count for at, count in self._counts.items()},
            suspect=suspect,
            named=(unwrapped(suspect, self._patterns) or meant(suspect)) if suspect else None,
            traceback=self._trace(),
            cluster=self._suspects.cluster(),
            done=self._done and self._whole(self._done),
            steps=self._steps.marks(),
        )

    def _trace(self) -> Line | None:
        if self._traceback is None or self._raised is None or self._raised.told:
            return None
        return self._raised.line() or self._whole(self._traceback)

    def count(self, known: Known) -> int:
        """How often it was seen up to now."""
        return self._counts[self._patterns.entries.index(known)]

    def _read(self, blocks: Iterator[Block]) -> tuple[Hit, ...]:
        known = len(self._hits)
        for block in blocks:
            self.take(self.look(block))
        return tuple(self._hits[known:])

    def look(self, block: Block) -> Seen:
        """What may be in a block. In any thread."""
        return look(block, self._patterns, self._suspects.outlived if self._suspects.has_outlived else None)

    def take(self, seen: Seen) -> None:
        """The next block and what was seen in it."""
        block = seen.block
        self._behind.take(block)
        self._near.begin()
        self._waiting = [number for number in self._waiting if not self._after[number].take(block)]
        if self._raised is not None:
            self._raised.take(block)
        for piece in pieces(seen, self._full, self._skips, self._patterns.stepped):
            self._look(block, piece, self._number + piece.feeds)
        self._steps.keep(self._behind)
        self._number += seen.feeds

    def _look(self, block: Block, piece: Piece, number: int) -> None:
        patterns = self._patterns
        if patterns.stepped in piece.patterns:
            self._step(number, block.start + piece.end)
            return
        if is_own(piece.text) or self._spent.holds(piece, block.start + piece.end, number):
            return
        matches = patterns.matches(piece.patterns - patterns.suspects, piece.text)
        for index in matches.keys() & patterns.far.keys():
            self._near.saw(patterns.far[index], number)
        if not patterns.steps.keys().isdisjoint(matches):
            self._step(number, block.start + piece.end)
        entries = [(at, match) for index, match in matches.items() for at in patterns.of.get(index, ())]
        if matches.keys() <= patterns.steps.keys() and piece.patterns.isdisjoint(patterns.suspects):
            return
        voice = self._quotes.hold(self._behind, block.start + piece.start, piece.whose)
        entries = [(at, m) for at, m in entries if tells(patterns.entries[at].name, voice, piece.text, m.start())]
        taken = [at for at, match in entries if self._hit(at, match, block, piece, number)]
        if voice is not Voice.RUN:
            return
        if patterns.done in matches:
            self._done = self._line(block, piece, number)
        elif patterns.traceback in matches:
            self._traced(block, piece, number, matches[patterns.traceback].start())
        elif not taken:
            self._suspected(block, piece, number)

    def _traced(self, block: Block, piece: Piece, number: int, at: int) -> None:
        if inline(piece.text, at):
            return
        if self._traceback is None:
            self._traceback = self._line(block, piece, number)
            self._raised = Raised(self._traceback, whose=piece.whose, stamp=piece.text[:at])
            self._raised.take(block, piece.end)
        self._full.add(self._patterns.traceback)

    def _step(self, number: int, end: int) -> None:
        self._steps.add(number, end)
        self._suspects.step()
        if not self._suspects.full:
            self._full -= self._patterns.suspects
        if self._traceback is not None and self._steps.outlive(self._traceback.number):
            self._traceback = self._raised = None
            self._full.discard(self._patterns.traceback)

    def _hit(self, at: int, match: re.Match[bytes], block: Block, piece: Piece, number: int) -> bool:
        """Whether the line says that it happened; the same line counts once."""
        if at in self._spent.entries:
            return True
        entry = self._patterns.entries[at]
        gap = self._gap(at, block.start + piece.end, number)
        if gap is None or not happened(entry.signature, piece.text, match):
            return False
        if entry.signature.role is Part.ROOT and entry.signature.fatal and is_retried(piece.text):
            self._retried[at] += repeated(piece.text)
            if self._retried[at] < RETRIED:
                return True
        if self._counted.get(at) != number:
            self._counted[at] = number
            self._counts[at] += repeated(piece.text)
            if self._counts[at] >= COUNTED:
                self._spent.entries.add(at)
            name = (entry.name, entry.signature.role)
            if self._kept[at] < KEPT and self._named.get(name) != number:
                self._named[name] = number
                self._kept[at] += 1
                self._hits.append(Hit(entry, self._line(block, piece, number), gap))
        return True

    def _gap(self, at: int, end: int, number: int) -> int | None:
        return self._near.gap(self._patterns.entries[at].signature, self._behind, end, number)

    def _skips(self, key: Key, end: int, feeds: int) -> bool:
        return self._spent.skips(key, end, self._number + feeds)

    def _suspected(self, block: Block, piece: Piece, number: int) -> None:
        if self._suspects.full or self._suspects.outlived(piece.raw):
            return
        matched = self._patterns.matches(piece.patterns & self._patterns.suspects, piece.text).keys()
        if not matched or not is_suspect(text := shown(piece.text)) or spoken_of(matched, self._patterns, piece.text):
            return
        if self._suspects.add(text, number, piece.raw):
            self._suspects.keep(self._line(block, piece, number))
        if self._suspects.full:
            self._full |= self._patterns.suspects

    def _line(self, block: Block, piece: Piece, number: int) -> Line:
        start, end = block.start + piece.start, block.start + piece.end
        if number not in self._after:
            self._after[number] = After(number)
            if not self._after[number].take(block, piece.end):
                self._waiting.append(number)
        return Line(
            file=self._file,
            order=self._order,
            number=number,
            text=shown(piece.text),
            clock=first_clock(piece.text) or clock_at(self._clock, self._behind, end),
            frame=last_frame(self._behind.text(start - REACHED, start), piece.whose),
            context=(*before(self._behind, start, number), (number, shown(piece.text))),
        )

    def _whole(self, line: Line) -> Line:
        return dataclasses.replace(line, context=(*line.context, *self._after[line.number].lines))
