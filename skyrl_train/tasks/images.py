"""Which image a row of a data set asks for, in any of the shapes that rows have. Unlike `read_row` it wants no more."""

from collections.abc import Mapping
from dataclasses import dataclass

from skyrl_train.tasks.rows import R2E_GYM, SWE_BENCH

COLUMNS = ("docker_image", "image_name", "image", "instance_id")
"""In order: R2E-Gym's own column, SWE-bench's two, and SkyRL's, which calls the image of an R2E task its id."""
HOLDERS = ("extra_info", "instance")
"""Columns that hold the others: verl's, and SkyRL's."""


@dataclass(frozen=True, slots=True)
class TaskImage:
    """An image as a row names it, and the kind of task that it is for."""

    name: str
    source: str


def image_of(row: object) -> TaskImage | None:
    """None where the row names none."""
    if not isinstance(row, Mapping):
        return None
    for table in (row, *(row[name] for name in HOLDERS if isinstance(row.get(name), Mapping))):
        found = _column(table)
        if found is not None:
            return TaskImage(found, _source(row, table))
    return None


def _column(table: Mapping[str, object]) -> str | None:
    is_swe_bench = "FAIL_TO_PASS" in table
    columns = COLUMNS[:-1] if is_swe_bench else COLUMNS  # there an instance_id is no image
    values = (table.get(name) for name in columns)
    return next((value for value in values if isinstance(value, str) and value), None)


def _source(row: Mapping[str, object], table: Mapping[str, object]) -> str:
    said = row.get("data_source")
    if isinstance(said, str) and said:
        return said
    return SWE_BENCH if "FAIL_TO_PASS" in table else R2E_GYM
