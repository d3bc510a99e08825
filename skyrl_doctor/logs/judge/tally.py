"""Counts what the lines of one file are evidence of, and keeps the first of each kind."""

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import field

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.classify import Kind, Verdict
from skyrl_doctor.logs.judge.clusters import Cluster
from skyrl_doctor.logs.judge.framework import FrameworkMarks
from skyrl_doctor.logs.judge.hits import COUNT_LIMIT, Hit, Hits
from skyrl_doctor.logs.judge.last_words import LastWords
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.judge.lookback import Lookback
from skyrl_doctor.logs.judge.steps import Mark, Steps
from skyrl_doctor.logs.judge.topics import find_named_failure
from skyrl_doctor.logs.judge.traceback import Traceback
from skyrl_doctor.logs.judge.unmatched import Unmatched
from skyrl_doctor.logs.match.errors import Weight, is_failed_test, weigh
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.phrases import ANSWERED, count_repeats
from skyrl_doctor.logs.match.pieces import Piece
from skyrl_doctor.logs.match.program_errors import REFUSED
from skyrl_doctor.logs.match.signatures import KnownFailure
from skyrl_doctor.logs.match.success import is_dispensable
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.slurm_job import JobWords, JobWordsReader
from skyrl_doctor.logs.read.versions import find_versions

_LINES_AFTER = 5
"""The least lines below a failed command that show that the script went on without it."""
_LINES_AFTER_ERROR = 20
"""The least lines between the last error of a logger and a good end that show that the program survived it."""
_REPLIED = re.compile(rb"log_server_r: request: POST \S{1,200} \S{1,80} 200\b")
"""A line of llama.cpp's server about a request that it answered."""
MAX_EARLIER = 20
"""Earlier runs of a file that are kept."""


@record(kw_only=True)
class Scan:
    """What one file holds.

    suspect    the unmatched error to show: the first of the highest weight that the run did not survive
    weight     how much the suspect says
    versions   the versions of packages that it names at its start
    job_words  what its first lines say of its Slurm job
    named      the failure that it names if it is read together with the lines below it
    traceback  the last line of the first traceback
    cluster    the lines like the suspect
    groups     other groups of similar unmatched errors
    tolerated  the first unmatched error that the run survived, or that says that it goes on
    done       the line that says that the run came to its end
    ended      the last line, which says that a program ended well; what only prepared it was survived
    last_step  the text up to the end of the last step
    answered   requests that a model server answered, counted only where it refused one
    frameworks the frameworks that name themselves in it
    parts      the parts of a system that it shows: Slurm, Ray and others
    first_line the line where the last run of the file starts: the other fields are of this run
    earlier    the earlier runs of the file, of many the last
    """

    file: str
    hits: tuple[Hit, ...]
    counts: dict[KnownFailure, int]
    suspect: Line | None = None
    named: KnownFailure | None = None
    traceback: Line | None = None
    cluster: Cluster | None = None
    groups: tuple[Cluster, ...] = ()
    tolerated: Line | None = None
    weight: Weight | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    job_words: JobWords = JobWords()
    done: Line | None = None
    ended: Line | None = None
    steps: tuple[Mark, ...] = ()
    last_step: bytes = b""
    answered: int = 0
    frameworks: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    first_line: int = 1
    earlier: tuple["Scan", ...] = ()


class Tally:
    """What was found in one file up to now. `complete` adds the lines below a line, and `ignored` are the patterns that can
    add nothing at present.
    """

    def __init__(
        self, file: str, patterns: Patterns, complete: Callable[[Line], Line], *, count_limit: int = COUNT_LIMIT
    ) -> None:
        self._file, self._patterns, self._complete = file, patterns, complete
        self.hits = Hits(patterns.entries, count_limit)
        self.unmatched = Unmatched()
        self.ignored: set[int] = set()
        self._steps = Steps(file)
        self._frameworks = FrameworkMarks()
        self._traceback: Traceback | None = None
        self._done: Line | None = None
        self._versions: Mapping[str, str] = {}
        self._job_words = JobWordsReader()
        self._answered = 0
        self._refused = 0
        self._replied: int | None = None
        self._first_line, self._earlier, self._is_ended = 1, tuple[Scan, ...](), False

    def add_block(self, block: Block) -> None:
        """Read the traceback on, if there is one, and note the framework and the versions at the start of the file."""
        self._frameworks.add_block(block)
        self._job_words.add_block(block)
        if not block.start:
            self._versions = find_versions(block.data)
        if self._traceback is not None:
            self._traceback.add_block(block)

    def end_block(self, lookback: Lookback, block: Block) -> None:
        """Keep the text of the steps before it is gone, and count what a model server answered beside refused requests."""
        self._steps.keep_text(lookback)
        if any(hit.failure.signature.request for hit in self.hits.kept):
            self._answered += block.data.count(ANSWERED) + len(_REPLIED.findall(block.data))
        if self._refused:
            text = block.data if self._replied is not None else lookback.full_text()
            self._replied = (self._replied or 0) + len(_REPLIED.findall(text))

    def add_step(self, number: int, end: int) -> None:
        """A training step ended: the run survived the errors that are old enough."""
        self._steps.add(number, end)
        self.unmatched.add_step()
        if not self.unmatched.is_full:
            self.ignored -= self._patterns.errors
        if self._traceback is not None and self._steps.is_survived(self._traceback.first.number):
            self._traceback = None
            self.ignored.discard(self._patterns.traceback)

    def add_run_mark(self, lookback: Lookback, *, is_start: bool, number: int) -> bool:
        """A run starts or ends. Whether the line is the start of another run: the lines above it are of an earlier one."""
        if not is_start or not self._is_ended:
            self._is_ended = self._is_ended or not is_start
            return False
        self._steps.keep_text(lookback)
        earlier = dataclasses.replace(self.scan(_as_it_is), earlier=(), parts=frozenset())
        self._earlier = (*self._earlier, earlier)[-MAX_EARLIER:]
        self._first_line, self._is_ended = number, False
        self._traceback, self._done, self._answered = None, None, 0
        self.ignored.clear()
        for part in (self.hits, self.unmatched, self._steps):
            part.start_run()
        return True

    def add(self, verdict: Verdict, block: Block, piece: Piece, number: int, build_line: Callable[[], Line]) -> None:
        """Add the verdict on a line; `build_line` makes the line if it is to be kept."""
        if verdict.is_step:
            self.add_step(number, block.start + piece.end)
        if verdict.evidence:
            repeats = count_repeats(piece.text)
            for evidence in verdict.evidence:
                self.hits.add(evidence, repeats, number, build_line)
        if verdict.kind is Kind.DONE:
            self._done, self._is_ended = build_line(), True
        elif verdict.kind is Kind.TRACEBACK:
            self._add_traceback(block, piece, build_line)
        elif verdict.weight is not None:
            self._add_unmatched(piece, number, verdict.weight, build_line)

    def scan(
        self,
        complete: Callable[[Line], Line],
        last_line: int | None = None,
        last_words: LastWords | None = None,
        ended: Line | None = None,
    ) -> Scan:
        """All that was found; `complete` adds the lines below a line.

        `last_line` is the number of lines of a file that is read, `last_words` what its end says of a failure, and `ended`
        its last line, if that says that a program ended well.
        """
        self.unmatched.drop_passed_over(complete)
        traceback = self._traceback_line(complete)
        suspect, weight, cluster = self._suspect(traceback, complete)
        retries = () if last_line is None else self.hits.open_retries(last_line)
        if suspect is None and last_line is not None and (line := self.unmatched.open_retry(last_line)):
            suspect, weight = complete(line), Weight.NOTE
        if last_words and (weight is None or weight < self._weight_of(last_words, traceback)):
            suspect, weight, cluster = last_words.line, self._weight_of(last_words, traceback), None
        tolerated = self.unmatched.tolerated and complete(self.unmatched.tolerated)
        if suspect and self._is_done_without(suspect, weight, ended):
            suspect, weight, cluster, tolerated = None, None, None, tolerated or suspect
        return Scan(
            file=self._file,
            hits=tuple(dataclasses.replace(hit, line=complete(hit.line)) for hit in (*self.hits.kept, *retries)),
            counts={hit.failure: 1 for hit in retries} | self.hits.counts(),
            suspect=suspect,
            named=find_named_failure(suspect, self._patterns) if suspect else None,
            traceback=traceback,
            cluster=cluster,
            groups=self.unmatched.other_groups(),
            tolerated=tolerated,
            weight=weight,
            versions=self._versions,
            job_words=self._job_words.words(),
            done=self._done and complete(self._done),
            ended=ended,
            steps=self._steps.marks(),
            last_step=self._steps.last_text(),
            answered=self._answered,
            frameworks=frozenset(self._frameworks.found),
            parts=frozenset(self._frameworks.parts),
            first_line=self._first_line,
            earlier=self._earlier,
        )

    def _is_done_without(self, suspect: Line, weight: Weight | None, ended: Line | None) -> bool:
        """Whether the program ended well after a command of its script failed, or a server answered most requests.

        What a test of an agent says is no error of a run that shows its parts.
        """
        if weight is Weight.LAST_WORDS and is_failed_test(suspect.text):
            return bool(self._frameworks.found or self._frameworks.parts or self._steps.marks())
        if REFUSED in suspect.text and self._refused:
            return (self._replied or 0) > self._refused
        if ended is None:
            return False
        if weight is Weight.ERROR and self._traceback is None:
            last = self.unmatched.last
            return last is not None and ended.number - last >= _LINES_AFTER_ERROR
        is_above = ended.number - suspect.number >= _LINES_AFTER
        return is_above and weight is Weight.SHELL and is_dispensable(suspect.text)

    def _weight_of(self, last_words: LastWords, traceback: Line | None) -> Weight:
        """The weight of the last words: below a traceback they only follow from it."""
        return last_words.weight if traceback is None else min(last_words.weight, Weight.NOTE)

    def _add_traceback(self, block: Block, piece: Piece, build_line: Callable[[], Line]) -> None:
        if self._traceback is None:
            match = self._patterns.search(self._patterns.traceback, piece.text)
            stamp = piece.text[: match.start()] if match else b""
            self._traceback = Traceback(build_line(), process=piece.process, stamp=stamp)
            self._traceback.add_block(block, piece.end)
        self.ignored.add(self._patterns.traceback)

    def _suspect(
        self, traceback: Line | None, complete: Callable[[Line], Line]
    ) -> tuple[Line | None, Weight | None, Cluster | None]:
        """The unmatched error to show; the end of the first traceback, where that is earlier or says more."""
        line, weight = self.unmatched.line, self.unmatched.weight
        if line is None or weight is None:
            return None, None, None
        if traceback is not None and (weight < Weight.EXCEPTION or traceback.number < line.number):
            is_error = self._traceback is not None and self._traceback.is_error and self._traceback.is_complete
            of_traceback = Weight.NOTE if weigh(traceback.text) is Weight.NOTE else Weight.EXCEPTION
            is_less = of_traceback < weight
            if is_error and not is_less and not self._patterns.matches_signature(traceback.text.encode()):
                return traceback, of_traceback, None
        return complete(line), weight, self.unmatched.cluster()

    def _add_unmatched(self, piece: Piece, number: int, weight: Weight, build_line: Callable[[], Line]) -> None:
        if self.unmatched.is_full or self.unmatched.is_survived(piece.raw):
            return
        self._refused += REFUSED.encode() in piece.text
        if weight is Weight.SHELL:
            self.unmatched.drop_passed_over(self._complete)
        self.unmatched.add(piece.text, number, weight, build_line, piece.raw)
        if self.unmatched.is_full:
            self.ignored |= self._patterns.errors

    def _traceback_line(self, complete: Callable[[Line], Line]) -> Line | None:
        if self._traceback is None or self._traceback.is_stopped_worker or not self._traceback.is_error:
            return None
        return self._traceback.last_line() or complete(self._traceback.first)


def _as_it_is(line: Line) -> Line:
    """The line without those below it, which may not have been read yet."""
    return line
