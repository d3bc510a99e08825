"""ParquetFile, as far as children/prompt_lengths.py asks. It notes how many rows were decoded."""

import json
import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any


class Cell:
    def __init__(self, value: Any) -> None:
        self._value = value

    def as_py(self) -> Any:
        return self._value


class ParquetFile:
    def __init__(self, path: str, **_: object) -> None:
        with open(path, encoding="utf-8") as file:
            self._groups = json.load(file)["groups"]
        self._path = path
        self.num_row_groups = len(self._groups)
        rows = [row for group in self._groups for row in group]
        self.schema_arrow = SimpleNamespace(names=sorted(rows[0]) if rows else ["prompt"])
        self.metadata = SimpleNamespace(
            num_rows=len(rows), row_group=lambda index: SimpleNamespace(num_rows=len(self._groups[index]))
        )

    def iter_batches(
        self,
        batch_size: int,
        row_groups: list[int],
        columns: list[str],
        use_threads: bool,  # noqa: ARG002 -- pyarrow's name
    ) -> Iterator[Any]:
        rows = [row[columns[0]] for index in row_groups for row in self._groups[index]]
        for start in range(0, len(rows), batch_size):
            taken = rows[start : start + batch_size]
            with open(f"{self._path}.decoded", "a", encoding="utf-8") as file:
                file.write(f"{len(taken)}{os.linesep}")
            yield SimpleNamespace(column=lambda _, taken=taken: [Cell(value) for value in taken])
