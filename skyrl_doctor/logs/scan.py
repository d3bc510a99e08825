"""Scans one log as it comes: bytes in, hits out. The same bytes give the same hits, however they are cut."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.advice import DONE, SUSPECTS, below_warning, is_advice, is_suspect, template
from skyrl_doctor.logs.blocks import Block, Blocks
from skyrl_doctor.logs.clock import Clock, last_clock
from skyrl_doctor.logs.engine import Engine, Found, PrefilteredRe, line_text
from skyrl_doctor.logs.known import Known

KEPT = 64
"""Hits kept of one signature in one file; the rest are counted."""
COUNTED = 1000
"""Lines that look like errors are counted so far; of more, the first still stands."""
CONTEXT = 3
SHOWN = 400


@record(kw_only=True)
class Line:
    """A line of a log, where it stands, and what stands around it."""

    file: str
    order: int
    number: int
    text: str
    clock: Clock | None
    context: tuple[tuple[int, str], ...] = ()


@record
class Hit:
    """A line and the signature that it matches; `gap` is how far above it the near pattern stood."""

    known: Known
    line: Line
    gap: int = 0


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


class Patterns:
    """All that is looked for, and the engine made for it: one for all files."""

    def __init__(self, entries: Sequence[Known]) -> None:
        self.entries = tuple(entries)
        used: dict[str, int] = {}
        for text in self._texts():
            used.setdefault(text, len(used))
        self.index = used
        self.regexes = {text: re.compile(text) for text in used}
        self.engine: Engine = PrefilteredRe(tuple(used))
        self.of: dict[int, list[int]] = {}
        self.near = {used[entry.signature.near] for entry in entries if entry.signature.near}
        for at, entry in enumerate(self.entries):
            self.of.setdefault(used[entry.signature.pattern], []).append(at)
        self.suspects = {used[text]: self.regexes[text] for text in SUSPECTS}
        self.done = used[DONE]
        self.traceback = used[_TRACEBACK]

    def _texts(self) -> Iterator[str]:
        for entry in self.entries:
            yield entry.signature.pattern
            if entry.signature.near:
                yield entry.signature.near
        yield from (*SUSPECTS, DONE, _TRACEBACK)


_TRACEBACK = r"Traceback \(most recent call last\)"


class Scanner:
    """Reads one file to its end."""

    def __init__(self, file: str, patterns: Patterns, *, order: int = 0) -> None:
        self._file, self._order, self._patterns = file, order, patterns
        self._blocks = Blocks()
        self._clock: Clock | None = None
        self._near: dict[int, int] = {}
        self._hits: list[Hit] = []
        self._counts: Counter[int] = Counter()
        self._seen: dict[int, int] = {}
        self._kept: Counter[int] = Counter()
        self._templates: Counter[str] = Counter()
        self._suspects = 0
        self._suspect: Line | None = None
        self._traceback: Line | None = None
        self._done: Line | None = None

    def feed(self, chunk: bytes) -> None:
        for block in self._blocks.feed(chunk):
            self._read(block)

    def finish(self) -> Scan:
        for block in self._blocks.finish():
            self._read(block)
        alike = self._templates[template(self._suspect.text)] if self._suspect else 0
        return Scan(
            file=self._file,
            hits=tuple(self._hits),
            counts={self._patterns.entries[at]: count for at, count in self._counts.items()},
            suspect=self._suspect,
            traceback=self._traceback,
            alike=alike,
            done=self._done,
        )

    def _read(self, block: Block) -> None:
        at, number = 0, block.line
        for found in self._patterns.engine.find(block.text):
            number += block.text.count(b"\n", at, found.start)
            self._clock = last_clock(block.text[at : found.end]) or self._clock
            at = found.start
            self._take(block, found, number)
        self._clock = last_clock(block.text[at:]) or self._clock

    def _take(self, block: Block, found: Found, number: int) -> None:
        matched = set(found.patterns)
        for index in matched & self._patterns.near:
            self._near[index] = number
        entries = [at for index in found.patterns for at in self._patterns.of.get(index, ())]
        taken = [at for at in entries if self._hit(at, block, found, number)]
        if self._patterns.done in matched:
            self._done = self._line(block, found, number)
        elif self._patterns.traceback in matched:
            self._traceback = self._traceback or self._line(block, found, number)
        elif not taken and not matched.isdisjoint(self._patterns.suspects):
            self._suspected(block, found, number)

    def _hit(self, at: int, block: Block, found: Found, number: int) -> bool:
        """Whether the line says that it happened; the same line counts once."""
        entry = self._patterns.entries[at]
        signature = entry.signature
        match = self._patterns.regexes[signature.pattern].search(found.text)
        if match is None or is_advice(found.text, match.start(), match.end()):
            return False
        quiet = signature.role is Part.ROOT and signature.fatal and below_warning(found.text, match.start())
        if quiet and "Uvicorn" not in signature.pattern and "HTTP/1" not in found.text:
            return False
        gap = 0
        if signature.near:
            stood = self._near.get(self._patterns.index[signature.near])
            if stood is None or number - stood > signature.within:
                return False
            gap = number - stood
        if self._seen.get(at) != number:
            self._seen[at] = number
            self._counts[at] += repeated(found.text)
            if self._kept[at] < KEPT:
                self._kept[at] += 1
                self._hits.append(Hit(entry, self._line(block, found, number), gap))
        return True

    def _suspected(self, block: Block, found: Found, number: int) -> None:
        if self._suspects >= COUNTED or not is_suspect(found.text) or _spoken_of(found, self._patterns):
            return
        self._suspects += 1
        self._templates[template(found.text)] += 1
        if self._suspect is None:
            self._suspect = self._line(block, found, number)

    def _line(self, block: Block, found: Found, number: int) -> Line:
        return Line(
            file=self._file,
            order=self._order,
            number=number,
            text=found.text.strip()[:SHOWN] if len(found.text) <= SHOWN else _around(found.text),
            clock=self._clock,
            context=tuple(_context(block.text, found, number)),
        )


def _spoken_of(found: Found, patterns: Patterns) -> bool:
    for index in found.patterns:
        regex = patterns.suspects.get(index)
        match = regex.search(found.text) if regex else None
        if match is not None and is_advice(found.text, match.start(), match.end()):
            return True
    return False


def _around(text: str) -> str:
    return f"{text.strip()[:SHOWN]} [… {len(text) - SHOWN} more]"


_REPEATED = re.compile(r"\[repeated (\d{1,6})x across cluster\]")


def repeated(text: str) -> int:
    """How many lines this one stands for: Ray prints one of many."""
    match = _REPEATED.search(text)
    return int(match[1]) if match else 1


def _context(block: bytes, found: Found, number: int) -> Iterator[tuple[int, str]]:
    """The lines around, as far as they are at hand."""
    before = block[max(0, found.start - 4096) : found.start].split(b"\n")[:-1][-CONTEXT:]
    after = block[found.end : found.end + 4096].split(b"\n")[1:][:CONTEXT]
    for offset, raw in enumerate(before):
        yield number - len(before) + offset, line_text(raw)[:SHOWN]
    yield number, found.text[:SHOWN]
    for offset, raw in enumerate(after, 1):
        yield number + offset, line_text(raw)[:SHOWN]


def scan(file: str, chunks: Iterable[bytes], patterns: Patterns, *, order: int = 0) -> Scan:
    """A whole file."""
    scanner = Scanner(file, patterns, order=order)
    for chunk in chunks:
        scanner.feed(chunk)
    return scanner.finish()
