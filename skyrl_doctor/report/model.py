"""The result of an examination, as the reporters get it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import field

from skyrl_doctor.core.engine import exit_code
from skyrl_doctor.core.model import Outcome, Severity, Status
from skyrl_doctor.core.record import record

VERDICTS = ("pass", "fail", "unknown")
_BY_CODE = {0: "pass", 1: "fail", 3: "unknown"}


@record(kw_only=True)
class Report:
    """One examination. `notes` are about the examination itself: expired waivers, packages that do not load.

    `finished_at` is in seconds since the epoch, by the clock of the machine that ran the doctor.
    """

    outcomes: tuple[Outcome, ...]
    roles: tuple[str, ...]
    targets: tuple[str, ...]
    dialect: str
    duration_s: float
    version: str
    host: str
    fail_on: Severity = Severity.ERROR
    notes: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    traits: Mapping[str, str] = field(default_factory=dict)
    """Values that must be equal on all nodes of a job, by name."""
    nodes: Mapping[str, tuple[str, ...]] | None = None
    """With --nodes: the names of the passing, failing and unknown nodes."""
    finished_at: float | None = None

    @property
    def code(self) -> int:
        return exit_code(self.outcomes, self.fail_on)

    @property
    def verdict(self) -> str:
        return _BY_CODE[self.code]

    @property
    def summary(self) -> Mapping[str, int]:
        counted = Counter(outcome.status for outcome in self.outcomes)
        return {status.value: counted[status] for status in Status}
