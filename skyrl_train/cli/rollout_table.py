"""Rollouts in aligned columns under a header, a line each."""

import sqlite3
from collections.abc import Iterator

from skyrl_train.contracts.printable import one_line

WHY_LETTERS = 80
HEADER = ("step", "rollout", "task", "reward", "end", "turns", "time", "why")
NUMBERS = {"step", "reward", "turns", "time"}


class Table:
    """Collects rows of the index. `width`: columns of the terminal; None for a file or a pipe, where lines stay whole."""

    def __init__(self, width: int | None) -> None:
        self._width = width
        self._rows: list[tuple[str, ...]] = []
        self.last = ""
        """The id of the last rollout."""

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: sqlite3.Row) -> None:
        self.last = row["rollout"]
        self._rows.append(tuple(one_line(cell) for cell in _cells(row)))

    def lines(self) -> Iterator[str]:
        """The header and the rows; nothing without a row. A column without a value is left out."""
        kept = [at for at in range(len(HEADER)) if any(row[at] for row in self._rows)]
        widths = {at: max(len(row[at]) for row in (HEADER, *self._rows)) for at in kept}
        for row in (HEADER, *self._rows) if self._rows else ():
            cells = (row[at].rjust(widths[at]) if HEADER[at] in NUMBERS else row[at].ljust(widths[at]) for at in kept)
            yield self._cut("  ".join(cells).rstrip())

    def _cut(self, line: str) -> str:
        return line if self._width is None or len(line) <= self._width else f"{line[: self._width - 1]}…"


def _cells(row: sqlite3.Row) -> tuple[str, ...]:
    reward = "masked" if row["masked"] else "none" if row["reward"] is None else f"{row['reward']:g}"
    return (
        "" if row["step"] is None else str(row["step"]),
        row["rollout"],
        row["task"],
        reward,
        row["finish"],
        str(row["turns"]),
        f"{row['duration_s']:.0f} s",
        (row["detail"] or row["why"])[:WHY_LETTERS],
    )
