"""Scans one log as it comes: bytes in, hits out. Equal bytes give equal hits, wherever the chunks end."""

import functools
from collections.abc import Callable, Iterator, Set

from skyrl_doctor.logs.judge.classify import MatchedLine, classify
from skyrl_doctor.logs.judge.context import Context
from skyrl_doctor.logs.judge.hits import COUNT_LIMIT, Hit
from skyrl_doctor.logs.judge.last_words import find_last_words, find_success
from skyrl_doctor.logs.judge.lines import Line, LineBuilder
from skyrl_doctor.logs.judge.quotations import Voice
from skyrl_doctor.logs.judge.saturated import Distance, SaturatedLines
from skyrl_doctor.logs.judge.tally import Scan, Tally
from skyrl_doctor.logs.match.boxes import Boxes
from skyrl_doctor.logs.match.candidates import Candidates, find_candidates
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.phrases import OTHER_WAY_AFTER
from skyrl_doctor.logs.match.pieces import Key, Piece, split_pieces
from skyrl_doctor.logs.read.blocks import Block, Blocks
from skyrl_doctor.logs.read.watch_lines import is_watch_line


class Scanner:
    """Reads one file to its end. `feed` and `flush` return the new hits, `finish` all that was found."""

    def __init__(
        self,
        file: str,
        patterns: Patterns,
        *,
        order: int = 0,
        count_limit: int = COUNT_LIMIT,
        make_saturated: Callable[[Patterns, Distance, Set[int]], SaturatedLines] = SaturatedLines,
    ) -> None:
        self._patterns = patterns
        self._blocks, self._boxes = Blocks(), Boxes()
        self._number, self._is_line_complete = 1, True
        self._context = Context(patterns)
        self._lines = LineBuilder(file, order)
        self._tally = Tally(file, patterns, self._lines.complete, count_limit=count_limit)
        self._make_saturated = make_saturated
        self._saturated = self._start_saturated()
        self._runs = 1

    def feed(self, chunk: bytes) -> tuple[Hit, ...]:
        """Add bytes. Lines are judged when a block of them is full, or with `flush`."""
        return self._scan(self._blocks.feed(chunk))

    def flush(self) -> tuple[Hit, ...]:
        """Judge all complete lines, for a log that still grows."""
        return self._scan(self._blocks.flush())

    def finish(self) -> Scan:
        """Judge the rest, an incomplete last line included, and return all that was found."""
        self._scan(self._blocks.finish())
        return self.end()

    def end(self) -> Scan:
        """All that was found in a file that is read to its end."""
        last_line = self._number - self._is_line_complete
        last_words = find_last_words(self._context, self._patterns, self._lines, last_line)
        ended = find_success(self._context, self._lines, last_line)
        return self._tally.scan(self._lines.complete, last_line, last_words, ended)

    def snapshot(self) -> Scan:
        """All that was found up to now."""
        return self._tally.scan(self._lines.complete)

    def find_candidates(self, block: Block) -> Candidates:
        """The places of a block that may matter. May be called from any thread."""
        return find_candidates(block, self._patterns, self._tally.unmatched.survived_filter())

    def add(self, candidates: Candidates) -> None:
        """Judge the next block."""
        block = candidates.block
        self._context.add_block(block)
        self._lines.add_block(block)
        self._tally.add_block(block)
        pieces = split_pieces(candidates, self._tally.ignored, self._is_repeat, self._patterns.certain_step)
        for piece in self._boxes.replace(pieces, block, self._patterns):
            self._judge(block, piece, self._number + piece.feeds)
        self._tally.end_block(self._context.lookback, block)
        self._number += candidates.feeds
        self._is_line_complete = block.data.endswith(b"\n")

    def _scan(self, blocks: Iterator[Block]) -> tuple[Hit, ...]:
        before, runs = len(self._tally.hits.kept), self._runs
        for block in blocks:
            self.add(self.find_candidates(block))
        return tuple(self._tally.hits.kept[before if runs == self._runs else 0 :])

    def _start_saturated(self) -> SaturatedLines:
        return self._make_saturated(self._patterns, self._context.distance, self._tally.hits.saturated)

    def _judge(self, block: Block, piece: Piece, number: int) -> None:
        patterns, context, end = self._patterns, self._context, block.start + piece.end
        if patterns.certain_step in piece.patterns:
            self._tally.add_step(number, end)
            return
        if is_watch_line(piece.text) or self._saturated.is_saturated(piece, end, number):
            return
        matches = patterns.matches(piece.patterns - patterns.errors, piece.text)
        context.record_far(matches.keys(), number)
        if not matches.keys().isdisjoint((patterns.run_start, patterns.run_end)):
            self._add_run_mark(block, piece, number, is_start=patterns.run_start in matches)
        if patterns.other_way in matches:
            self._tally.hits.drop(OTHER_WAY_AFTER, number)
        verdict = classify(
            MatchedLine(piece.text, matches, piece.patterns & patterns.errors),
            patterns,
            find_voice=lambda: context.voice(block.start + piece.start, piece.process),
            find_distance=lambda index: context.distance(index, end, number),
            saturated=self._tally.hits.saturated,
        )
        self._tally.add(verdict, block, piece, number, self._line_of(block, piece, number))

    def _add_run_mark(self, block: Block, piece: Piece, number: int, *, is_start: bool) -> None:
        if self._context.voice(block.start + piece.start, piece.process) is not Voice.RUN:
            return
        if self._tally.add_run_mark(self._context.lookback, is_start=is_start, number=number):
            self._saturated, self._runs = self._start_saturated(), self._runs + 1

    def _line_of(self, block: Block, piece: Piece, number: int) -> Callable[[], Line]:
        return functools.partial(self._lines.build, self._context.lookback, block, piece, number)

    def _is_repeat(self, key: Key, end: int, feeds: int) -> bool:
        return self._saturated.is_repeat(key, end, self._number + feeds)
