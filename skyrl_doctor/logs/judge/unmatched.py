"""Errors that no signature knows: the first that the run did not survive, and how many lines are like it."""

from collections.abc import Callable

from skyrl_doctor.logs.judge.clusters import Cluster, Clusters, form
from skyrl_doctor.logs.judge.lines import Line, decode
from skyrl_doctor.logs.match.steps import SURVIVED_STEPS

MAX_ERRORS = 1000
"""Errors that are judged while one is kept, and as many again if the run survives that one. Repeats of a survived error do not
count."""
_MAX_LINE = 1 << 10
_NO_CLUSTER = -1


class Unmatched:
    """Takes errors and steps in their order. `line` is the error that is kept."""

    def __init__(self) -> None:
        self._clusters = Clusters()
        self._survived: set[int | None] = set()
        self._cluster_by_form: dict[bytes, int | None] = {}
        self._cluster: int | None = None
        self._steps = self._count = 0
        self.line: Line | None = None

    @property
    def is_full(self) -> bool:
        """Whether no further error is needed, unless the run survives the kept one."""
        return self._count >= (MAX_ERRORS if self.line is not None else 2 * MAX_ERRORS)

    def survived_filter(self) -> Callable[[bytes], bool] | None:
        """`is_survived`, or None while the run has survived nothing."""
        return self.is_survived if self._survived else None

    def is_survived(self, raw: bytes) -> bool:
        """Whether the run survived a line that differs in numbers alone. It never changes back, so any thread may ask."""
        return len(raw) <= _MAX_LINE and self._cluster_by_form.get(form(raw), _NO_CLUSTER) in self._survived

    def add(self, text: bytes, number: int, raw: bytes = b"") -> bool:
        """Count the error; return whether to `keep` it: the first of a kind that the run has not survived."""
        self._count += 1
        cluster = self._clusters.add(decode(text), number)
        if len(raw) <= _MAX_LINE:
            self._cluster_by_form[form(raw)] = cluster
        if self.line is not None or cluster in self._survived:
            return False
        self._cluster = cluster
        return True

    def keep(self, line: Line) -> None:
        """Keep this error."""
        self.line, self._steps = line, 0

    def add_step(self) -> None:
        """A training step ended: after enough of them the kept error is dropped."""
        self._steps += 1
        if self.line is not None and self._steps >= SURVIVED_STEPS:
            self._survived.add(self._cluster)
            self.line = None

    def cluster(self) -> Cluster | None:
        """The lines like the kept error."""
        return None if self.line is None or self._cluster is None else self._clusters[self._cluster]
