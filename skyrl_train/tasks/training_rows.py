"""The rows of a data set with verl's columns, converted where they are published ones."""

from collections.abc import Iterator, Mapping
from typing import Any

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.tasks.rows import TaskRow, read_row
from skyrl_train.tasks.convert import verl_row
from skyrl_train.tasks.converted import fault_of_row, is_converted
from skyrl_train.tasks.datasets import rows_of


def rows_in(path: str) -> Iterator[Mapping[str, Any]]:
    for number, row in enumerate(rows_of(path), start=1):
        if not is_converted(row):
            task = read_row(row, number)
            if not isinstance(task, TaskRow):
                raise UsageError(f"{path}, row {number}: {task.why}; run `skyrl-train data validate`")
            yield verl_row(task, number - 1)
            continue
        assert isinstance(row, Mapping)
        if fault := fault_of_row(row):
            raise UsageError(f"{path}, row {number}: {fault}; run `skyrl-train data validate`")
        yield row
