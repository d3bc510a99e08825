"""Writes verl's columns, as parquet or JSON lines: a batch at a time, and under the file's name only when it is whole."""

import contextlib
import importlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skyrl_train.contracts.errors import UsageError
from skyrl_train.tasks.datasets import PARQUET

BATCH_ROWS = 256
Row = Mapping[str, object]
Write = Callable[[Row], None]


@contextmanager
def blamed(path: Path) -> Iterator[None]:
    """What fails in here is that this file cannot be written."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A file beside `path` that takes its name at the end; it is taken away where anything goes wrong."""
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        with blamed(path):
            yield part
            part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


@contextmanager
def sink(path: Path) -> Iterator[Write]:
    """Takes verl's rows."""
    with replaced(path) as part, _parquet(part) if path.suffix == PARQUET else _lines(part) as write:
        yield write


@contextmanager
def _lines(part: Path) -> Iterator[Write]:
    with part.open("w", encoding="utf-8", errors="replace") as file:
        yield lambda row: _write_line(file, row)


def _write_line(file: Any, row: Row) -> None:
    file.write(json.dumps(row, ensure_ascii=False) + "\n")


@contextmanager
def _parquet(part: Path) -> Iterator[Write]:
    try:
        arrow, parquet = (importlib.import_module(name) for name in ("pyarrow", "pyarrow.parquet"))
    except ImportError:
        raise UsageError(
            "writing parquet needs pyarrow; pip install 'skyrl-doctor[data]', or write JSON lines"
        ) from None
    schema = _schema(arrow)
    batch: list[Row] = []
    with parquet.ParquetWriter(part, schema, compression="zstd") as writer:

        def flush() -> None:
            if batch:
                writer.write_batch(arrow.RecordBatch.from_pylist(batch, schema=schema))
                batch.clear()

        def write(row: Row) -> None:
            batch.append(row)
            if len(batch) >= BATCH_ROWS:
                flush()

        yield write
        flush()


def _schema(arrow: Any) -> Any:
    """verl's columns. A schema that is guessed from the first rows would fail at the first odd one."""
    text = arrow.string()
    extra = [("index", arrow.int64()), *((name, text) for name in ("task_id", "repo", "base_commit", "image"))]
    return arrow.schema(
        [
            ("prompt", arrow.list_(arrow.struct([("role", text), ("content", text)]))),
            ("data_source", text),
            ("ability", text),
            ("reward_model", arrow.struct([("style", text), ("ground_truth", text)])),
            ("extra_info", arrow.struct(extra)),
            ("agent_name", text),
        ]
    )
