"""Turns lines of all logs into observations: steps, bars, phases, and matches of signatures.

Each file has its own scanner, as in `diagnose`: a line's meaning depends on the lines around it and on the other logs.
"""

import os
from collections.abc import Iterator
from dataclasses import replace

from skyrl_doctor.core.record import record
from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.cause.root_cause import find_root_cause
from skyrl_doctor.logs.judge.hits import Hit as Found
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.judge.scanner import Scanner
from skyrl_doctor.logs.judge.tally import Scan
from skyrl_doctor.logs.match.patterns import Patterns, installed_patterns
from skyrl_doctor.logs.read.watch_lines import WATCH_PREFIX
from skyrl_doctor.logs.sentences import explain
from skyrl_doctor.watch.files import COUNTS
from skyrl_doctor.watch.follow.tail import Lines
from skyrl_doctor.watch.observations import Hit, Observation, Rollouts
from skyrl_doctor.watch.read.access import Access
from skyrl_doctor.watch.read.bars import bars
from skyrl_doctor.watch.read.phases import phases
from skyrl_doctor.watch.read.steps import StepReader

MOST_PAST = 50


@record
class Reading:
    """A file being read: its scanner and its steps, the number of lines before it began, and of the line that must come
    next."""

    scanner: Scanner
    steps: StepReader
    before: int
    next: int


class Logs:
    """Turns followed lines into observations."""

    def __init__(self, patterns: Patterns | None = None) -> None:
        self._patterns = patterns or installed_patterns()
        self._reading: dict[str, Reading] = {}
        self._past: list[Scan] = []
        self._real: set[str] = set()
        self._access = Access()

    def take(self, lines: Lines, at: float) -> Iterator[Observation]:
        """Observations of these lines, in the order of their kinds."""
        if os.path.basename(lines.path) == COUNTS:
            yield from _counts(lines, at)
            return
        text = _without_own(lines.text)
        yield from bars(text, at)
        if lines.open:
            yield from self._open(lines, text, at)
            return
        reading = self._reading_of(lines)
        yield from reading.steps.take(text, at)
        yield from phases(lines.path, lines.number, text, at)
        yield from self._access.take(lines.path, text, at)
        found = (*reading.scanner.feed(text), *reading.scanner.flush())
        self._reading[lines.path] = replace(reading, next=lines.number + text.count(b"\n"))
        yield from self._judged(found, reading.before, at)

    def done(self) -> Line | None:
        """The line that marks the normal end of the run."""
        return next((scan.done for scan in self._scans() if scan.done is not None), None)

    def _reading_of(self, lines: Lines) -> Reading:
        known = self._reading.get(lines.path)
        if known is not None and known.next == lines.number:
            return known
        if known is not None:  # another file took its name, or it was truncated
            self._past = [*self._past, known.scanner.snapshot()][-MOST_PAST:]
        order = len(self._reading) + len(self._past)
        return Reading(Scanner(lines.path, self._patterns, order=order), StepReader(), lines.number - 1, lines.number)

    def _open(self, lines: Lines, text: bytes, at: float) -> Iterator[Observation]:
        """Judges an unfinished line alone; it counts once it is complete."""
        scanner = Scanner(lines.path, self._patterns)
        scanner.feed(text)
        for found in scanner.finish().hits:
            if found.failure.signature.at_least == 1:
                yield _observed(found, lines.number - 1, at)

    def _judged(self, found: tuple[Found, ...], before: int, at: float) -> Iterator[Hit]:
        """The hits that the cause of the run may be. Which signature explains a line, its neighbours and the steps decide."""
        names = {hit.failure.name for hit in found if hit.failure.signature.role is Part.ROOT}
        causes = self._causes() if names - self._real else ()
        self._real |= {hit.failure.name for hit in causes}
        explained = {hit.failure.name: hit for hit in causes if any(_is_same_line(hit, one) for one in found)}
        yield from (_observed(hit, before, at) for hit in explained.values())
        for hit in found:
            is_cause = hit.failure.name in self._real and hit.failure.name not in explained
            if hit.failure.signature.role is not Part.ROOT or is_cause:
                yield _observed(hit, before, at)

    def _causes(self) -> tuple[Found, ...]:
        """The possible causes in all that was read."""
        matches = find_root_cause(self._scans()).matches
        return tuple(hit for hit in matches if hit.failure.signature.role is Part.ROOT)

    def _scans(self) -> list[Scan]:
        return [*self._past, *(reading.scanner.snapshot() for reading in self._reading.values())]


def _is_same_line(hit: Found, other: Found) -> bool:
    return (hit.line.file, hit.line.number) == (other.line.file, other.line.number)


def _observed(found: Found, before: int, at: float) -> Hit:
    failure, signature = found.failure, found.failure.signature
    return Hit(
        at=at,
        id=failure.id,
        slug=failure.slug,
        root=signature.role is Part.ROOT and signature.fatal,
        cascade=signature.role is not Part.ROOT,
        file=found.line.file,
        line=found.line.number + before,
        text=found.line.text,
        explain=explain(found),
    )


def _counts(lines: Lines, at: float) -> Iterator[Rollouts]:
    if not lines.open:
        yield from (Rollouts(at=at, counts=line) for line in lines.text.decode("utf-8", "replace").splitlines() if line)


def _without_own(text: bytes) -> bytes:
    if WATCH_PREFIX not in text:
        return text
    return b"\n".join(b"" if line.lstrip().startswith(WATCH_PREFIX.strip()) else line for line in text.split(b"\n"))
