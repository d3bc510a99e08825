"""Searches the texts of rollouts in the files of transcripts. Most lines are ruled out by their bytes."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import BinaryIO

from skyrl_train.contracts import bounded
from skyrl_train.view import transcripts
from skyrl_train.view.index import Index

COLUMNS = (
    "id, step, rollout, task, finish, detail, reward, why, masked, turns, prompt, written, read, call_errors, reply_s, "
    "command_s, duration_s, tools"
)
CHUNK = 400
"""Rollouts that are read from the index at a time."""


class Lines:
    """The stored lines of rollouts. The last file stays open, since rollouts come in the order of their file."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._number: int | None = None
        self._file: BinaryIO | None = None

    def __enter__(self) -> "Lines":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def of(self, row: sqlite3.Row) -> bytes:
        """The line of a row. OSError if its file is gone."""
        if self._file is None or self._number != row["file"]:
            self._close()
            (stored,) = self._index.rows("SELECT path FROM file WHERE id = ?", (row["file"],))
            self._file, self._number = bounded.open_file(stored["path"]), row["file"]
        return os.pread(self._file.fileno(), row["length"], row["start"])

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None


def rows_before(index: Index, condition: str, values: list[object], before: int | None, most: int) -> list[sqlite3.Row]:
    """The newest rollouts of a condition that are older than `before`."""
    return index.rows(
        f"SELECT {COLUMNS}, start, length, file FROM rollout WHERE {condition} AND id < ? ORDER BY id DESC LIMIT ?",
        (*values, 1 << 62 if before is None else before, most),
    )


def count_before(index: Index, condition: str, values: list[object], before: int | None) -> int:
    """The number of rollouts of a condition that are older than `before`."""
    (row,) = index.rows(
        f"SELECT count(*) AS number FROM rollout WHERE {condition} AND id < ?",
        (*values, 1 << 62 if before is None else before),
    )
    return int(row["number"])


def matches(
    index: Index, condition: str, values: list[object], text: str, before: int | None = None
) -> Iterator[tuple[sqlite3.Row, bool]]:
    """Each rollout of a condition, the newest first, and whether its texts hold `text`; all of them for an empty text."""
    holds = _test_of(text) if text else None
    with Lines(index) as lines:
        while rows := rows_before(index, condition, values, before, CHUNK):
            for row in rows:
                before = row["id"]
                yield row, holds is None or _held(lines, row, holds)


def _held(lines: Lines, row: sqlite3.Row, holds: Callable[[bytes], bool]) -> bool:
    try:
        return holds(lines.of(row))
    except (OSError, ValueError):  # its file was removed
        return False


def _test_of(text: str) -> Callable[[bytes], bool]:
    needles = {
        json.dumps(text, ensure_ascii=ascii_only)[1:-1].encode("utf-8", "replace") for ascii_only in (True, False)
    }
    return lambda line: any(needle in line for needle in needles) and transcripts.holds(line, text)
