"""Finds the image of a row in any format. Unlike `read_row`, it needs nothing else of the row."""

from collections.abc import Mapping

from skyrl_train.contracts.record import record
from skyrl_train.contracts.tasks.rows import R2E_GYM, SWE_BENCH, swe_bench_image

COLUMNS = ("docker_image", "image_name", "image", "instance_id")
"""In order: R2E-Gym's column, SWE-bench's two, and SkyRL's, which uses the image of an R2E task as its id."""
HOLDERS = ("extra_info", "instance")
"""Columns of verl and of SkyRL that contain the other columns."""


@record
class TaskImage:
    """The image in a row, and the source of its task."""

    name: str
    source: str


def image_of(row: object) -> TaskImage | None:
    """The image of a row, or None if it has none."""
    if not isinstance(row, Mapping):
        return None
    for table in (row, *(row[name] for name in HOLDERS if isinstance(row.get(name), Mapping))):
        found = _column(table)
        if found is not None:
            return TaskImage(found, _source(row, table))
    return None


def _column(table: Mapping[str, object]) -> str | None:
    texts = {name: value for name in COLUMNS if isinstance(value := table.get(name), str) and value}
    if "FAIL_TO_PASS" in table and "instance_id" in texts:  # there it is not an image, but the image is named after it
        texts["instance_id"] = swe_bench_image(texts["instance_id"])
    return next(iter(texts.values()), None)


def _source(row: Mapping[str, object], table: Mapping[str, object]) -> str:
    source = row.get("data_source")
    if isinstance(source, str) and source:
        return source
    return SWE_BENCH if "FAIL_TO_PASS" in table else R2E_GYM
