"""Reads the image columns of a dataset: each combination once, in order. The file is read in pieces."""

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

import importlib
import json

LINE_LIMIT = 16 << 20
MOST_COMBINATIONS = 5000  # combinations that are printed
TEXT_LIMIT = 600
ROWS_AT_ONCE = 32
MOST_UNPACKED, MOST_RATIO = 1 << 30, 500  # bytes that a parquet file may stand for, absolute and by its size


class NoImagesError(Exception):
    """The file cannot be read; the text is the reason."""


class NoPyarrowError(NoImagesError):
    """This interpreter has no pyarrow."""


def main():
    spec = json.loads(sys.argv[1])
    sys.stdout.write(json.dumps(read_files(spec)) + "\n")


def read_files(spec):
    try:
        return {"files": [images(file, spec["columns"], spec["holders"]) for file in spec["files"]]}
    except NoPyarrowError as reason:
        return {"why": str(reason), "python": sys.executable}
    except NoImagesError as reason:
        return {"why": str(reason)}


def images(file, columns, holders):
    found = {}  # type: dict[str, object]
    rows, without = 0, 0
    for row in rows_of(file, (*columns, *holders)):
        rows += 1
        kept = image_columns(row, columns, holders)
        if not kept:
            without += 1
        elif len(found) < MOST_COMBINATIONS:
            found.setdefault(json.dumps(kept, sort_keys=True), kept)
    return {"file": file, "rows": rows, "without": without, "found": list(found.values())}


def image_columns(row, columns, holders):
    """The columns of the row and of its tables that may name an image. Long texts are shortened."""
    if not isinstance(row, dict):
        return {}
    kept = short_columns(row, columns)
    for holder in holders:
        inner = short_columns(row[holder], columns) if isinstance(row.get(holder), dict) else {}
        if inner:
            kept[holder] = inner
    return kept if any(name in kept for name in (*columns, *holders)) else {}


def short_columns(table, columns):
    kept = {}
    for name in columns:
        value = table.get(name)
        if value is not None:
            kept[name] = value[:TEXT_LIMIT] if isinstance(value, str) else repr(value)[:TEXT_LIMIT]
    if kept and "FAIL_TO_PASS" in table:
        kept["FAIL_TO_PASS"] = ""
    if isinstance(table.get("data_source"), str):
        kept["data_source"] = table["data_source"][:TEXT_LIMIT]
    return kept


def rows_of(path, columns):
    if path.endswith(".parquet"):
        return from_parquet(path, (*columns, "FAIL_TO_PASS", "data_source"))
    if path.endswith((".jsonl", ".json")):
        return from_lines(path)
    raise NoImagesError(path + " is neither parquet nor JSON lines")


def from_parquet(path, columns):
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise NoPyarrowError("pyarrow is not installed, so " + path + " cannot be read") from None
    try:
        file = parquet.ParquetFile(path)
        present = [name for name in columns if name in file.schema_arrow.names]
        left = max(MOST_UNPACKED, MOST_RATIO * os.path.getsize(path))
        for batch in file.iter_batches(batch_size=ROWS_AT_ONCE, columns=present, use_threads=False):
            left -= batch.nbytes
            if left < 0:
                raise ValueError("it unpacks to far more than its size")
            yield from batch.to_pylist()
    except (OSError, ValueError, KeyError, NotImplementedError) as error:  # base classes of pyarrow's errors
        raise NoImagesError(path + " cannot be read: " + str(error)[:200]) from None


def from_lines(path):
    try:
        with open(path, "rb") as file:
            lines = iter(lambda: file.readline(LINE_LIMIT), b"")
            yield from (json.loads(line.decode("utf-8")) for line in lines if line.strip())
    except (OSError, ValueError, RecursionError) as error:
        raise NoImagesError(f"{path} cannot be read: {type(error).__name__}: {str(error)[:200]}") from None


main()
