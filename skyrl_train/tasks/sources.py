"""Reads the tasks of a data set, one row at a time; an invalid row is a BadRow."""

import hashlib
from collections.abc import Iterable, Iterator

from skyrl_train.contracts import bounded
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.tasks.rows import BadRow, TaskRow, read_row
from skyrl_train.tasks.convert import read_line
from skyrl_train.tasks.datasets import LINES, PARQUET, rows_of


def tasks_of(path: str) -> Iterator[TaskRow | BadRow]:
    """The rows of a file of JSON lines or parquet. UsageError if the file cannot be read."""
    if not path.endswith((*LINES, PARQUET)):
        raise UsageError(
            f"data set {path}: unknown file type; expected a name that ends in {', '.join((*LINES, PARQUET))}"
        )
    yield from without_repeats(_parquet(path) if path.endswith(PARQUET) else _lines(path))


def without_repeats(rows: Iterable[tuple[int, TaskRow | BadRow]]) -> Iterator[TaskRow | BadRow]:
    """The rows, with repeated tasks as BadRows: they would be trained on twice, and break the grouping by task.

    A short digest of each name is kept, so that a large data set takes little memory.
    """
    first: dict[bytes, int] = {}
    for number, row in rows:
        if isinstance(row, BadRow):
            yield row
            continue
        digest = hashlib.blake2b(row.id.encode("utf-8", "replace"), digest_size=12).digest()
        before = first.setdefault(digest, number)
        yield row if before == number else BadRow(number, f"task {row.id} is a duplicate of row {before}")


def _lines(path: str) -> Iterator[tuple[int, TaskRow | BadRow]]:
    try:
        for number, line in bounded.lines(path):
            if line is None:
                yield number, BadRow(number, bounded.too_long())
            elif line.strip():
                yield number, read_line(line, number)
    except OSError as error:
        raise UsageError(f"data set {path}: {error.strerror or error}") from None


def _parquet(path: str) -> Iterator[tuple[int, TaskRow | BadRow]]:
    for number, row in enumerate(rows_of(path), start=1):
        yield number, read_row(row, number)
