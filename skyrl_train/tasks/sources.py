"""Tasks out of a data set's file, one row at a time, with the bad rows as what is wrong with them."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.tasks.rows import BadRow, TaskRow, read_row
from skyrl_train.tasks.convert import read_line
from skyrl_train.tasks.datasets import LINES, PARQUET, rows_of


def tasks_of(path: str) -> Iterator[TaskRow | BadRow]:
    """Each row of a file of JSON lines or parquet. Raises UsageError where the file as a whole does not read."""
    if not path.endswith((*LINES, PARQUET)):
        raise UsageError(f"data set {path}: its name ends in none of {', '.join((*LINES, PARQUET))}")
    yield from without_repeats(_parquet(path) if path.endswith(PARQUET) else _lines(path))


def without_repeats(rows: Iterable[tuple[int, TaskRow | BadRow]]) -> Iterator[TaskRow | BadRow]:
    """A task that comes twice would be trained on twice as often, and confuses what groups rollouts by task.

    Of each name a short digest is kept, so that a large data set takes little memory.
    """
    first: dict[bytes, int] = {}
    for number, row in rows:
        if isinstance(row, BadRow):
            yield row
            continue
        digest = hashlib.blake2b(row.id.encode("utf-8", "replace"), digest_size=12).digest()
        before = first.setdefault(digest, number)
        yield row if before == number else BadRow(number, f"task {row.id} is there already, in row {before}")


def _lines(path: str) -> Iterator[tuple[int, TaskRow | BadRow]]:
    try:
        with Path(path).open(encoding="utf-8-sig", errors="replace", newline="\n") as lines:
            filled = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
            yield from ((number, read_line(line, number)) for number, line in filled)
    except OSError as error:
        raise UsageError(f"data set {path}: {error.strerror or error}") from None


def _parquet(path: str) -> Iterator[tuple[int, TaskRow | BadRow]]:
    for number, row in enumerate(rows_of(path), start=1):
        yield number, read_row(row, number)
