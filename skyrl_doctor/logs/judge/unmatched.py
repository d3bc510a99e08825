"""Lines that look like errors and that nothing knows: the first that the run did not outlive, and how many are like it."""

from skyrl_doctor.logs.judge.clusters import Cluster, Clusters, form
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.match.steps import OUTLIVED

RETRIED = 5
"""A failure that will be tried again is a cause when it was seen so often."""
COUNTED = 1000
"""So many hits of one kind, and so many lines that look like errors, are looked at; of the latter so many more, if the run
outlived the kept one. Those that only repeat what the run outlived do not count."""
_LONGEST = 1 << 10
_NO_CLUSTER = -1


class Suspects:
    """Takes them as they come, and the steps that end in between."""

    def __init__(self) -> None:
        self._clusters = Clusters()
        self._lived_with: set[int | None] = set()
        self._forms: dict[bytes, int | None] = {}
        self._cluster: int | None = None
        self._steps = self._count = 0
        self.line: Line | None = None

    @property
    def full(self) -> bool:
        """Whether no further one is asked for, unless the run outlives the kept one."""
        return self._count >= (COUNTED if self.line is not None else 2 * COUNTED)

    @property
    def has_outlived(self) -> bool:
        """Whether it is worth while to ask."""
        return bool(self._lived_with)

    def outlived(self, raw: bytes) -> bool:
        """Whether the run outlived a line that differs in numbers alone. Once so, it stays so: any thread may ask, ahead of
        the one that takes them."""
        return len(raw) <= _LONGEST and self._forms.get(form(raw), _NO_CLUSTER) in self._lived_with

    def add(self, text: str, number: int, raw: bytes = b"") -> bool:
        """Whether this line is to be kept, by `keep`: the first that looks wrong, and of no kind that steps have outlived."""
        self._count += 1
        cluster = self._clusters.add(text, number)
        if len(raw) <= _LONGEST:
            self._forms[form(raw)] = cluster
        if self.line is not None or cluster in self._lived_with:
            return False
        self._cluster = cluster
        return True

    def keep(self, line: Line) -> None:
        self.line, self._steps = line, 0

    def step(self) -> None:
        """A step has ended."""
        self._steps += 1
        if self.line is not None and self._steps >= OUTLIVED:
            self._lived_with.add(self._cluster)
            self.line = None

    def cluster(self) -> Cluster | None:
        """That of the kept line."""
        return None if self.line is None or self._cluster is None else self._clusters[self._cluster]
