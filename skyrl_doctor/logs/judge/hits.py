"""Lines that are evidence of signatures: counted, and the first of each kept."""

from collections import Counter
from collections.abc import Callable, Sequence, Set

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.classify import Evidence
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.match.signatures import KnownFailure

MAX_KEPT = 64
"""Hits that are kept of one signature in one file; the rest are counted."""
COUNT_LIMIT = 1000
"""Hits that are counted of one signature in one file; after that it is saturated."""
MIN_RETRIES = 5
"""A failure that will be tried again is a cause when it came so often."""
_NEAR = 20
"""Lines between an error and the other way that the program takes after it."""
OPEN_LINES = 2
"""In the last lines of a file, a failure that will be tried again is still open."""


@record
class Hit:
    """A line and the signature that it matches; `gap` is how many lines above its near pattern matched."""

    failure: KnownFailure
    line: Line
    gap: int = 0


class Hits:
    """The hits of one file. `saturated` are the indices of signatures that are counted no further."""

    def __init__(self, entries: Sequence[KnownFailure], count_limit: int = COUNT_LIMIT) -> None:
        self._entries, self._count_limit = entries, count_limit
        self.kept: list[Hit] = []
        self.saturated: set[int] = set()
        self._counts: Counter[int] = Counter()
        self._kept_counts: Counter[int] = Counter()
        self._retries: Counter[int] = Counter()
        self._last_retried: dict[int, Hit] = {}
        self._last_counted: dict[int, int] = {}
        self._last_kept: dict[tuple[str, str], int] = {}

    def add(self, evidence: Evidence, repeats: int, number: int, build_line: Callable[[], Line]) -> None:
        """Count the evidence of a line, once a line, and keep it if there are few."""
        at = evidence.entry
        if evidence.is_retried:
            self._retries[at] += repeats
            if self._retries[at] < MIN_RETRIES:
                self._last_retried[at] = Hit(self._entries[at], build_line(), evidence.distance)
                return
        if self._last_counted.get(at) == number:
            return
        self._last_counted[at] = number
        self._counts[at] += repeats
        if self._counts[at] >= self._count_limit:
            self.saturated.add(at)
        self._keep(evidence, number, build_line)

    def start_run(self) -> None:
        """Forget the hits of an earlier run."""
        self.kept = []
        self.saturated.clear()
        for counts in (self._counts, self._kept_counts, self._retries, self._last_counted, self._last_kept):
            counts.clear()
        self._last_retried.clear()

    def drop(self, names: Set[str], number: int) -> None:
        """Forget the hits of these failures in the last lines before a line: the program does without what failed."""
        for hit in [one for one in self.kept if one.failure.name in names and number - one.line.number <= _NEAR]:
            self.kept.remove(hit)
            self._counts[self._entries.index(hit.failure)] -= 1

    def open_retries(self, last_line: int) -> tuple[Hit, ...]:
        """The failures that were to be tried again where the file ends: nothing shows that a later try went well."""
        counted = {hit.failure.name for hit in self.kept}
        found: dict[str, Hit] = {}
        for hit in self._last_retried.values():
            if hit.line.number > last_line - OPEN_LINES and hit.failure.name not in counted:
                found.setdefault(hit.failure.name, hit)
        return tuple(found.values())

    def counts(self) -> dict[KnownFailure, int]:
        """The count of each signature."""
        return {self._entries[at]: count for at, count in self._counts.items()}

    def _keep(self, evidence: Evidence, number: int, build_line: Callable[[], Line]) -> None:
        at, entry = evidence.entry, self._entries[evidence.entry]
        name = (entry.name, entry.signature.role)
        if self._kept_counts[at] < MAX_KEPT and self._last_kept.get(name) != number:
            self._last_kept[name] = number
            self._kept_counts[at] += 1
            self.kept.append(Hit(entry, build_line(), evidence.distance))
