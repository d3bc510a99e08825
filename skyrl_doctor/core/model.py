"""The words of the doctor: statuses, severities, remedies, findings, outcomes. Plain frozen data."""

from collections.abc import Mapping
from dataclasses import field
from enum import IntEnum, StrEnum

from skyrl_doctor.core.record import record


class Status(StrEnum):
    """What became of one check. UNKNOWN is "could not look": never a pass."""

    PASS = "pass"
    FAIL = "fail"
    SKIP = "skip"
    UNKNOWN = "unknown"


class Severity(IntEnum):
    """How much a finding matters: an ERROR ends the run, a WARNING may, an INFO is worth knowing."""

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
    """What a machine is in a launch: where it is submitted, where sandboxes run, where training runs."""

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
    """What to do. `settings` are config keys (FIX_CONFIG) or variables (FIX_ENV) with their new value.

    `safe` says that the remedy changes nothing but this job's own environment, files and directories.
    """

    kind: RemedyKind
    summary: str
    commands: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    safe: bool = False


@record(kw_only=True)
class Finding:
    """One fault: the value seen and the value wanted, what shows it, where it is, what to do."""

    message: str
    evidence: tuple[str, ...] = ()
    location: Location | None = None
    remedy: Remedy | None = None
    severity: Severity = Severity.ERROR


@record(kw_only=True)
class Outcome:
    """What one check said. `reason` explains a SKIP or an UNKNOWN, and a waiver."""

    id: str
    slug: str
    status: Status
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    duration_s: float = 0.0

    @property
    def severity(self) -> Severity | None:
        return max((finding.severity for finding in self.findings), default=None)
