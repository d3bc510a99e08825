"""The result of a node rule: variables to set or unset, directories and files that they name. Plain data."""

from skyrl_train.contracts.record import record


@record(kw_only=True)
class Setting:
    """One variable for the job's environment; `value` None unsets it. `cures` is the catalogue id."""

    name: str
    value: str | None
    cures: str
    why: str


@record(kw_only=True)
class Directory:
    """A directory of this job alone, made if missing."""

    path: str
    mode: int = 0o700


@record(kw_only=True)
class TextFile:
    """A file of this job alone, written whole."""

    path: str
    text: str
    mode: int = 0o600


@record(kw_only=True)
class Preparation:
    """All that a rule wants of a node. Rules add up: `a + b`; the first to set a variable wins."""

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
