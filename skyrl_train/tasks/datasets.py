"""Reads the rows of a data set one at a time: JSON lines, or parquet if pyarrow is installed."""

import importlib
import json
import os
from collections.abc import Callable, Iterable, Iterator

from skyrl_train.contracts import bounded
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.extras import install
from skyrl_train.contracts.tasks.images import TaskImage, image_of

LINES = (".jsonl", ".json")
PARQUET = ".parquet"
_ROWS_AT_ONCE = 32
_MOST_UNPACKED, _MOST_RATIO = 1 << 30, 500
"""A parquet file may stand for this many bytes, or for so many times its size: a kilobyte could stand for all memory."""


def is_dataset(path: str) -> bool:
    return path.endswith((*LINES, PARQUET))


def rows_of(path: str, *, bad: Callable[[str], None] | None = None) -> Iterator[object]:
    """The rows of a file. UsageError if the file cannot be read.

    With `bad`, unreadable rows are reported there and the others follow. Rows after a damaged part of a parquet file are
    lost.
    """
    try:
        yield from _parquet(path, bad) if path.endswith(PARQUET) else _lines(path, bad or _refuse)
    except OSError as error:
        raise UsageError(f"data set {path}: {error.strerror or error}") from None


def _refuse(why: str) -> None:
    raise UsageError(why)


def images_of(paths: Iterable[str], *, bad: Callable[[str], None] | None = None) -> tuple[list[TaskImage], int]:
    """The images of all rows in order of first use, and the number of rows without an image."""
    found: dict[TaskImage, None] = {}
    without = 0
    for path in paths:
        for row in rows_of(path, bad=bad):
            image = image_of(row)
            if image is None:
                without += 1
            else:
                found.setdefault(image)
    return list(found), without


def _lines(path: str, bad: Callable[[str], None]) -> Iterator[object]:
    for number, line in bounded.lines(path):
        if line is None:
            bad(f"data set {path}, line {number}: {bounded.too_long()}")
        elif line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                bad(f"data set {path}, line {number}: not valid JSON: {error}")
            else:
                yield row


def _parquet(path: str, bad: Callable[[str], None] | None) -> Iterator[object]:
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError(
            f"data set {path}: reading parquet needs pyarrow; run {install('data')}, or use JSON lines"
        ) from None
    read = 0
    try:
        with bounded.open_file(path) as file:
            left = max(_MOST_UNPACKED, _MOST_RATIO * os.fstat(file.fileno()).st_size)
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=_ROWS_AT_ONCE, use_threads=False):
            left -= batch.nbytes
            if left < 0:
                raise ValueError("it unpacks to far more than its size; expected a data set")
            for row in batch.to_pylist():
                read += 1
                yield row
    except (ValueError, OSError) as error:  # pyarrow's errors derive from one of them
        said = error.strerror if isinstance(error, OSError) else None
        why = f"data set {path}: {' '.join((said or str(error)).split())[:200]}"
        if bad is None or not read:
            raise UsageError(why) from None
        bad(f"{why}; the rows after {read} cannot be read")
