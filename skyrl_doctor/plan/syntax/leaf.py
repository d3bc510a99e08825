"""One value of a configuration file with its location."""

from typing import Any

from skyrl_doctor.core.record import record

Part = str | int
Path = tuple[Part, ...]


@record
class Leaf:
    """A value by its path. Tables are leaves too, because rules need their lines.

    `unknown` is the reason why the value is not known; `value` is then the text as written.
    """

    path: Path
    value: Any
    line: int | None = None
    span: tuple[int, int] | None = None
    unknown: str = ""
    is_table: bool = False

    @property
    def key(self) -> str:
        return dotted(self.path)


def dotted(path: Path) -> str:
    """("env", 0, "id") -> env[0].id"""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else part)
    return text
