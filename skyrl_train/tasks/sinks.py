"""Writes verl's columns as parquet or JSON lines, in batches. The file gets its name only when it is complete."""

import importlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.extras import install
from skyrl_train.contracts.files import replacing, target_of_own_link
from skyrl_train.tasks.datasets import PARQUET

BATCH_ROWS = 256
Row = Mapping[str, object]
Write = Callable[[Row], None]


@contextmanager
def blamed(path: Path) -> Iterator[None]:
    """Turns an OSError in its body into a UsageError about this file."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A temporary file that replaces `path` at the end, or is removed after an error."""
    with blamed(path):
        target_of_own_link(str(path.parent))
        with replacing(str(path)) as file:
            yield Path(f"/proc/self/fd/{file.fileno()}")


@contextmanager
def sink(path: Path) -> Iterator[Write]:
    """A function that writes one row to `path`."""
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
        raise UsageError(f"writing parquet needs pyarrow; run {install('data')}, or write JSON lines") from None
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
    """The schema of verl's columns. A schema guessed from the first rows would fail on later rows."""
    text = arrow.string()
    extra = [("index", arrow.int64()), *((name, text) for name in ("task_id", "repo", "base_commit", "image"))]
    extra.append(("edits", arrow.list_(text)))
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
