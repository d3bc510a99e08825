"""What a reporter gets: the whole examination as data."""

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
    """One examination. `notes` are sentences about the examination itself: expired waivers, packages that do not load.

    `finished_at` is in seconds since the epoch, by the clock of whoever examined.
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
    """What must be alike on the nodes of one job."""
    nodes: Mapping[str, tuple[str, ...]] | None = None
    """Where several were examined: those that pass, that fail, and of which nothing is known."""
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
