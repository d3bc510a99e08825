"""The result of a node rule: variables to set or unset, and the directories and files that they name."""

from skyrl_train.contracts.record import record


@record(kw_only=True)
class Setting:
    """One variable for the job's environment; `value` None unsets it. `cures` is the id of the failure that it prevents."""

    name: str
    value: str | None
    cures: str
    why: str


@record(kw_only=True)
class Directory:
    """A private directory of this job, made if missing."""

    path: str
    mode: int = 0o700


@record(kw_only=True)
class TextFile:
    """A private file of this job."""

    path: str
    text: str
    mode: int = 0o600


@record(kw_only=True)
class Preparation:
    """The result of a rule. Results add up with `a + b`; the first one to set a variable counts."""

    settings: tuple[Setting, ...] = ()
    directories: tuple[Directory, ...] = ()
    files: tuple[TextFile, ...] = ()

    def __add__(self, other: "Preparation") -> "Preparation":
        taken = {setting.name for setting in self.settings}
        return Preparation(
            settings=(*self.settings, *(setting for setting in other.settings if setting.name not in taken)),
            directories=tuple(dict.fromkeys((*self.directories, *other.directories))),
            files=tuple(dict.fromkeys((*self.files, *other.files))),
        )
