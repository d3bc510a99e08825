"""Which image a row of a data set asks for, in any of the shapes that rows have. Unlike `read_row` it wants no more."""

from collections.abc import Mapping

from skyrl_train.contracts.record import record
from skyrl_train.contracts.tasks.rows import R2E_GYM, SWE_BENCH, swe_bench_image

COLUMNS = ("docker_image", "image_name", "image", "instance_id")
"""In order: R2E-Gym's own column, SWE-bench's two, and SkyRL's, which calls the image of an R2E task its id."""
HOLDERS = ("extra_info", "instance")
"""Columns that hold the others: verl's, and SkyRL's."""


@record
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
    texts = {name: value for name in COLUMNS if isinstance(value := table.get(name), str) and value}
    if "FAIL_TO_PASS" in table and "instance_id" in texts:  # there it is no image, but an image is named after it
        texts["instance_id"] = swe_bench_image(texts["instance_id"])
    return next(iter(texts.values()), None)


def _source(row: Mapping[str, object], table: Mapping[str, object]) -> str:
    said = row.get("data_source")
    if isinstance(said, str) and said:
        return said
    return SWE_BENCH if "FAIL_TO_PASS" in table else R2E_GYM
