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
    left_out: str = ""
    """What was not examined on purpose, for the verdict; empty if nothing."""
    gpus: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    traits: Mapping[str, str] = field(default_factory=dict)
    """Values that must be equal on all nodes of a job, by name."""
    nodes: Mapping[str, tuple[str, ...]] | None = None
    """With --nodes: the names of the passing, failing and unknown nodes."""
    finished_at: float | None = None
    target_names: tuple[str, ...] = ()
    """The targets without secrets: a target may be a command line."""

    pages: Mapping[str, str] = field(default_factory=dict)
    """The address of the page of each failure that has one, by id."""

    @property
    def printed_targets(self) -> tuple[str, ...]:
        return self.target_names or self.targets

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


@record
class Refusal:
    """A target that could not be read, and why."""

    target: str
    reason: str


@record
class Batch:
    """The reports of several runs, and the targets that could not be read."""

    reports: tuple[Report, ...]
    refused: tuple[Refusal, ...] = ()

    @property
    def code(self) -> int:
        """The worst exit status: 1 if a run fails, else 2 if a target is refused, else 3 if a run is unknown."""
        codes = {report.code for report in self.reports} | ({2} if self.refused else set())
        return next((code for code in (1, 2, 3) if code in codes), 0)

    @property
    def verdict(self) -> str:
        """The worst verdict; a refused target is unknown."""
        return {0: "pass", 1: "fail"}.get(self.code, "unknown")

    @property
    def summary(self) -> str:
        """`3 runs: 1 pass, 2 fail; 1 target refused`"""
        number = Counter(report.verdict for report in self.reports)
        counted = ", ".join(f"{number[verdict]} {verdict}" for verdict in VERDICTS if number[verdict])
        runs = f"{len(self.reports)} run{'' if len(self.reports) == 1 else 's'}: {counted or 'none'}"
        return f"{runs}; {len(self.refused)} refused" if self.refused else runs
