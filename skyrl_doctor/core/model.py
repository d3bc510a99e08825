"""Statuses, severities, remedies, findings and outcomes, as frozen records."""

from collections.abc import Mapping
from dataclasses import field
from enum import IntEnum, StrEnum

from skyrl_doctor.core.record import record

CORRECT = "correct the configuration"
UNKNOWN_VALUE = "no action needed if the job gets this value"
"""The remedy of a value that is known only when the job runs. Both remedies add nothing to their message."""


class Status(StrEnum):
    """The result of one check. UNKNOWN means that a fact could not be read; it is never a pass."""

    PASS = "pass"
    FAIL = "fail"
    SKIP = "skip"
    UNKNOWN = "unknown"


class Severity(IntEnum):
    """An ERROR will end the run, a WARNING may end it, an INFO is worth knowing."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def word(self) -> str:
        return self.name.lower()


class RemedyKind(StrEnum):
    FIX_CONFIG = "FIX_CONFIG"
    FIX_ENV = "FIX_ENV"
    REBUILD_IMAGE = "REBUILD_IMAGE"
    RESET_STORE = "RESET_STORE"
    EXCLUDE_NODE = "EXCLUDE_NODE"
    RETRY = "RETRY"
    ASK_ADMIN = "ASK_ADMIN"


class Role(StrEnum):
    """The role of a machine in a launch: jobs are submitted on LOGIN, sandboxes run on RUNTIME, training runs on GPU."""

    LOGIN = "login"
    RUNTIME = "runtime"
    GPU = "gpu"


@record
class Location:
    """A place in a file that the user wrote."""

    file: str
    line: int | None = None
    key: str | None = None


@record(kw_only=True)
class Remedy:
    """How to fix a finding. `settings` are config keys (FIX_CONFIG) or variables (FIX_ENV) with their new value.

    `moves` are config keys or tables with their new name, `removes` those that must go. `safe`: the remedy changes only
    this job's own environment, files and directories.
    """

    kind: RemedyKind
    summary: str
    commands: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    moves: Mapping[str, str] = field(default_factory=dict)
    removes: tuple[str, ...] = ()
    safe: bool = False


@record(kw_only=True)
class Finding:
    """One problem: a message with the value found and the value expected, evidence, location, and remedy."""

    message: str
    evidence: tuple[str, ...] = ()
    location: Location | None = None
    remedy: Remedy | None = None
    severity: Severity = Severity.ERROR


@record(kw_only=True)
class Outcome:
    """The outcome of one check. `reason` explains a SKIP, an UNKNOWN or a waiver.

    `undecided` is what a skipped check lacks, if it would have something to judge.
    """

    id: str
    slug: str
    status: Status
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    duration_s: float = 0.0
    undecided: str = ""

    @property
    def severity(self) -> Severity | None:
        return max((finding.severity for finding in self.findings), default=None)
