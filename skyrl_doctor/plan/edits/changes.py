"""What a finding asks of a file: keys to set, to rename or move, and to remove."""

from skyrl_doctor.core.model import Finding, RemedyKind
from skyrl_doctor.core.record import record


class CannotEdit(Exception):  # noqa: N818 -- reads as the reason, like CouldNotLook
    """The editor cannot make this change. The message tells the user what to do instead."""


@record
class Set:
    """Gives a key a value; adds the key where it is missing."""

    key: str
    value: str

    @property
    def touched(self) -> tuple[str, ...]:
        return (self.key,)

    def __str__(self) -> str:
        return f"{self.key} = {self.value}"


@record
class Move:
    """Renames a key or a table, or moves it to another table. The value stays as it is written."""

    key: str
    to: str

    @property
    def touched(self) -> tuple[str, ...]:
        return (self.key, self.to)

    def __str__(self) -> str:
        return f"{self.key} -> {self.to}"


@record
class Remove:
    """Removes a key with its line."""

    key: str

    @property
    def touched(self) -> tuple[str, ...]:
        return (self.key,)

    def __str__(self) -> str:
        return f"remove {self.key}"


Change = Set | Move | Remove


def changes_of(finding: Finding) -> tuple[Change, ...]:
    """The changes of a configuration that a finding asks for; none if the user must decide."""
    remedy = finding.remedy
    if remedy is None or remedy.kind is not RemedyKind.FIX_CONFIG:
        return ()
    moves = [Move(old, new) for old, new in remedy.moves.items()]
    removals = [Remove(key) for key in remedy.removes]
    settings = [Set(key, value) for key, value in remedy.settings.items()]
    return (*moves, *removals, *settings)


def is_touched(key: str, changes: tuple[Change, ...]) -> bool:
    """Whether a key is one that the changes name, or lies inside or around one."""
    names = {name.lstrip("+") for change in changes for name in change.touched}
    return any(key == name or key.startswith((f"{name}.", f"{name}[")) or name.startswith(f"{key}.") for name in names)
