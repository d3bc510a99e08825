"""The files of tasks that the plan names, as they lie on this machine."""

from skyrl_doctor.core.record import record


@record(kw_only=True)
class DataFile:
    """`wrong` says why it cannot be read as a file of tasks, and `unsure` why nobody could look."""

    key: str
    path: str
    wrong: str = ""
    unsure: str = ""


@record
class DataFiles:
    files: tuple[DataFile, ...]
