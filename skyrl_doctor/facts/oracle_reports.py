"""What trying the rewards of the training data gave, where it was done."""

from skyrl_doctor.core.record import record
from skyrl_train.contracts.rewards.oracle import OracleReport


@record
class TriedData:
    """A file of training data on this machine. `text` is its report as it lies there, None where there is none."""

    file: str
    bytes: int
    path: str
    text: str | None
    report: OracleReport | None


@record
class OracleReports:
    """One for each file that is here."""

    files: tuple[TriedData, ...]
