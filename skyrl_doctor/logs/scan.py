"""Scans one log as it comes: bytes in, hits out. The same bytes give the same hits, however they are cut."""

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.logs.advice import is_suspect, template
from skyrl_doctor.logs.behind import Behind, Sighting
from skyrl_doctor.logs.blocks import Block, Blocks
from skyrl_doctor.logs.clock import CLOCK, clock_of
from skyrl_doctor.logs.engine import Place
from skyrl_doctor.logs.frames import last_frame
from skyrl_doctor.logs.happened import happened, spoken_of
from skyrl_doctor.logs.known import Known
from skyrl_doctor.logs.lines import REACHED, After, Line, before, shown
from skyrl_doctor.logs.patterns import Patterns, is_far
from skyrl_doctor.logs.pieces import Piece, pieces
from skyrl_doctor.logs.quoted import is_quoted

KEPT = 64
"""Hits kept of one signature in one file; the rest are counted."""
OWN = b"skyrl-doctor watch: "
"""How the watch begins its lines in the job's log: they speak of failures, and are none."""
COUNTED = 1000
"""So far hits and lines that look like errors are counted."""


@record
class Hit:
    """A line and the signature that it matches; `gap` is how far above it the near pattern stood."""

    known: Known
    line: Line
    gap: int = 0


@record
class Seen:
    """A block, where the engine saw something in it, and how many lines it ends. Made in any thread."""

    block: Block
    places: Sequence[Place]
    feeds: int

    @classmethod
    def of(cls, block: Block, patterns: Patterns) -> "Seen":
        return cls(block, patterns.engine.places(block.data), block.data.count(b"\n"))


@record(kw_only=True)
class Scan:
    """What one file holds."""

    file: str
    hits: tuple[Hit, ...]
    counts: dict[Known, int]
    suspect: Line | None = None
    traceback: Line | None = None
    alike: int = 0
    done: Line | None = None


class Scanner:
    """Reads one file to its end. `feed` and `flush` give the hits that are new; `finish` all that was found."""

    def __init__(self, file: str, patterns: Patterns, *, order: int = 0) -> None:
        self._file, self._order, self._patterns = file, order, patterns
        self._blocks, self._behind = Blocks(), Behind()
        self._number = 1
        self._clock = Sighting(CLOCK)
        self._near = {text: Sighting(regex) for text, regex in patterns.near.items()}
        self._far: dict[str, int] = {}
        self._hits: list[Hit] = []
        self._counts: Counter[int] = Counter()
        self._counted: dict[int, int] = {}
        self._templates: Counter[str] = Counter()
        self._suspects = 0
        self._suspect: Line | None = None
        self._traceback: Line | None = None
        self._done: Line | None = None
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
        alike = self._templates[template(self._suspect.text)] if self._suspect else 0
        return Scan(
            file=self._file,
            hits=tuple(dataclasses.replace(hit, line=self._whole(hit.line)) for hit in self._hits),
            counts={self._patterns.entries[at]: count for at, count in self._counts.items()},
            suspect=self._suspect and self._whole(self._suspect),
            traceback=self._traceback and self._whole(self._traceback),
            alike=alike,
            done=self._done and self._whole(self._done),
        )

    def count(self, known: Known) -> int:
        """How often it was seen up to now."""
        return self._counts[self._patterns.entries.index(known)]

    def _read(self, blocks: Iterator[Block]) -> tuple[Hit, ...]:
        known = len(self._hits)
        for block in blocks:
            self.take(Seen.of(block, self._patterns))
        return tuple(self._hits[known:])

    def take(self, seen: Seen) -> None:
        """The next block and what was seen in it."""
        block = seen.block
        self._behind.take(block)
        self._waiting = [number for number in self._waiting if not self._after[number].take(block)]
        at, number = 0, self._number
        places = [place for place in seen.places if place[1] not in self._full] if self._full else seen.places
        for piece in pieces(block, places):
            number += block.data.count(b"\n", at, piece.start)
            at = piece.start
            self._look(block, piece, number)
        self._number += seen.feeds

    def _look(self, block: Block, piece: Piece, number: int) -> None:
        patterns = self._patterns
        if piece.text.lstrip().startswith(OWN) or is_quoted(self._behind, block.start + piece.start):
            return
        found = ((index, patterns.regexes[index].search(piece.text)) for index in piece.patterns)
        matches = {index: match for index, match in found if match}
        matched = set(matches)
        for index in matched & patterns.far.keys():
            self._far[patterns.far[index]] = number
        entries = [(at, match) for index, match in matches.items() for at in patterns.of.get(index, ())]
        taken = [at for at, match in entries if self._hit(at, match, block, piece, number)]
        if patterns.done in matched:
            self._done = self._line(block, piece, number)
        elif patterns.traceback in matched:
            self._traceback = self._traceback or self._line(block, piece, number)
            self._full.add(patterns.traceback)
        elif not taken and not matched.isdisjoint(patterns.suspects):
            self._suspected(block, piece, number, matched)

    def _hit(self, at: int, match: re.Match[bytes], block: Block, piece: Piece, number: int) -> bool:
        """Whether the line says that it happened; the same line counts once."""
        if self._counts[at] >= COUNTED:
            return True
        entry = self._patterns.entries[at]
        gap = self._gap(entry.signature, block, piece, number) if entry.signature.near else 0
        if gap is None or not happened(entry.signature, self._patterns, piece.text, match):
            return False
        if self._counted.get(at) != number:
            self._counted[at] = number
            self._counts[at] += repeated(piece.text)
            name = (entry.name, entry.signature.role)
            if self._kept[at] < KEPT and self._named.get(name) != number:
                self._named[name] = number
                self._kept[at] += 1
                self._hits.append(Hit(entry, self._line(block, piece, number), gap))
        return True

    def _gap(self, signature: Signature, block: Block, piece: Piece, number: int) -> int | None:
        """How many lines above the near pattern stood, if near enough."""
        if is_far(signature):
            stood = self._far.get(signature.near)
            return None if stood is None or number - stood > signature.within else number - stood
        end = block.start + piece.end
        found = self._near[signature.near].last(self._behind, end)
        gap = self._behind.text(found[0], end).count(b"\n") if found else signature.within + 1
        return gap if gap <= signature.within else None

    def _suspected(self, block: Block, piece: Piece, number: int, matched: set[int]) -> None:
        suspects = self._patterns.suspects
        if not is_suspect(text := shown(piece.text)) or spoken_of(matched, suspects, piece.text):
            return
        self._suspects += 1
        self._templates[template(text)] += 1
        if self._suspect is None:
            self._suspect = self._line(block, piece, number)
        if self._suspects >= COUNTED:
            self._full |= suspects.keys()

    def _line(self, block: Block, piece: Piece, number: int) -> Line:
        start, end = block.start + piece.start, block.start + piece.end
        if number not in self._after:
            self._after[number] = After(number)
            if not self._after[number].take(block, piece.end):
                self._waiting.append(number)
        clock = self._clock.last(self._behind, end)
        return Line(
            file=self._file,
            order=self._order,
            number=number,
            text=shown(piece.text),
            clock=clock_of(clock[1]) if clock else None,
            frame=last_frame(self._behind.text(start - REACHED, start), piece.whose),
            context=(*before(self._behind, start, number), (number, shown(piece.text))),
        )

    def _whole(self, line: Line) -> Line:
        return dataclasses.replace(line, context=(*line.context, *self._after[line.number].lines))


_REPEATED = re.compile(rb"\[repeated (\d{1,6})x across cluster\]")


def repeated(text: bytes) -> int:
    """How many lines this one stands for: Ray prints one of many."""
    match = _REPEATED.search(text)
    return int(match[1]) if match else 1
