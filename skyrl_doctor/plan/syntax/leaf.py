"""One value of a file, wherever it was written."""

from typing import Any

from skyrl_doctor.core.record import record

Part = str | int
Path = tuple[Part, ...]


@record
class Leaf:
    """A value by its path. Tables are leaves too where they are empty or where a rule asks for their line.

    `unknown` says why the value cannot be told; `value` is then the text as written.
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
