"""Errors that no signature knows: which of them to show, and how many lines are like it."""

from collections.abc import Callable
from dataclasses import dataclass

from skyrl_doctor.logs.judge.clusters import Cluster, Clusters, form
from skyrl_doctor.logs.judge.hits import OPEN_LINES
from skyrl_doctor.logs.judge.lines import Line, decode
from skyrl_doctor.logs.match.errors import Weight
from skyrl_doctor.logs.match.phrases import is_retried
from skyrl_doctor.logs.match.steps import SURVIVED_STEPS
from skyrl_doctor.logs.match.success import is_passed_over

MAX_ERRORS = 1000
"""Errors that are judged once an exception is kept; twice as many while none is. Repeats of a survived error do not count."""
_MAX_LINE = 1 << 10
_NO_CLUSTER = -1
MAX_GROUPS = 5
"""Groups of other errors that are kept beside the one that is shown."""


@dataclass
class _Kept:
    """The first error of a weight that the run has not survived, its cluster, and the steps since."""

    line: Line
    cluster: int | None
    steps: int = 0


class Unmatched:
    """Takes errors and steps in their order.

    Of each weight the first error is kept. `tolerated` is the first that the run survived, or that says that it goes on.
    """

    def __init__(self) -> None:
        self._clusters = Clusters()
        self._survived: set[int | None] = set()
        self._cluster_by_form: dict[bytes, int | None] = {}
        self._weights: dict[int | None, Weight] = {}
        self._kept: dict[Weight, _Kept] = {}
        self._count = 0
        self.tolerated: Line | None = None
        self._retried: Line | None = None

    @property
    def line(self) -> Line | None:
        """The error to show: the first of the highest weight."""
        return self._shown.line if self._shown else None

    @property
    def weight(self) -> Weight | None:
        """The weight of the error to show."""
        return max(self._kept, default=None)

    @property
    def last(self) -> int | None:
        """The number of the last error; None if not all were counted."""
        if self.is_full or None in self._weights:
            return None
        return max((self._clusters[at].last for at in self._weights if at is not None), default=None)

    @property
    def is_full(self) -> bool:
        """Whether no further error is needed, unless the run survives the kept ones."""
        return self._count >= (MAX_ERRORS if Weight.EXCEPTION in self._kept else 2 * MAX_ERRORS)

    def survived_filter(self) -> Callable[[bytes], bool] | None:
        """`is_survived`, or None while the run has survived nothing."""
        return self.is_survived if self._survived else None

    def is_survived(self, raw: bytes) -> bool:
        """Whether the run survived a line that differs in numbers alone. It never changes back, so any thread may ask."""
        return len(raw) <= _MAX_LINE and self._cluster_by_form.get(form(raw), _NO_CLUSTER) in self._survived

    def add(self, text: bytes, number: int, weight: Weight, build_line: Callable[[], Line], raw: bytes = b"") -> None:
        """Count the error, and keep its line if it is the first of its weight that the run has not survived."""
        self._count += 1
        cluster = self._clusters.add(decode(text), number)
        self._weights.setdefault(cluster, weight)
        if len(raw) <= _MAX_LINE:
            self._cluster_by_form[form(raw)] = cluster
        if weight is Weight.TOLERATED:
            self.tolerated = self.tolerated or build_line()
            self._retried = build_line() if is_retried(text) else self._retried
        elif weight not in self._kept and cluster not in self._survived:
            self._kept[weight] = _Kept(build_line(), cluster)

    def drop_passed_over(self, complete: Callable[[Line], Line]) -> None:
        """Drop the failed command that the script does without, as the line below it shows: the next one counts."""
        kept = self._kept.get(Weight.SHELL)
        if kept is None:
            return
        below = next((text for number, text in complete(kept.line).context if number > kept.line.number), "")
        if is_passed_over(kept.line.text, below):
            self.tolerated = self.tolerated or kept.line
            del self._kept[Weight.SHELL]

    def start_run(self) -> None:
        """Forget the errors of an earlier run, and keep which of them it survived: other threads ask for them."""
        self._weights.clear()
        self._kept.clear()
        self._count, self.tolerated, self._retried = 0, None, None

    def add_step(self) -> None:
        """A training step ended: after enough of them the kept errors are dropped."""
        for weight, kept in list(self._kept.items()):
            kept.steps += 1
            if kept.steps >= SURVIVED_STEPS:
                self._survived.add(kept.cluster)
                self.tolerated = self.tolerated or kept.line
                del self._kept[weight]

    def open_retry(self, last_line: int) -> Line | None:
        """The error that was to be tried again where the file ends."""
        return self._retried if self._retried and self._retried.number > last_line - OPEN_LINES else None

    def cluster(self) -> Cluster | None:
        """The lines like the error to show."""
        shown = self._shown
        return None if shown is None or shown.cluster is None else self._clusters[shown.cluster]

    def other_groups(self) -> tuple[Cluster, ...]:
        """The other groups of similar errors that the run did not survive, in their order."""
        shown = self._shown
        found = [
            self._clusters[at]
            for at, weight in self._weights.items()
            if at is not None and weight > Weight.NOTE and at not in self._survived and (shown and shown.cluster) != at
        ]
        return tuple(found[:MAX_GROUPS])

    @property
    def _shown(self) -> _Kept | None:
        return self._kept[max(self._kept)] if self._kept else None
