"""Rows of files."""

import json
from pathlib import Path

import pytest

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.tasks.images import TaskImage
from skyrl_train.tasks.datasets import images_of, is_dataset, rows_of

ROWS = [{"docker_image": "a/bc:1"}, {"docker_image": "a/bc:1"}, {"x": 1}, {"docker_image": "a/bd:1"}]
FOUND = [TaskImage("a/bc:1", "r2e-gym"), TaskImage("a/bd:1", "r2e-gym")]


def test_reads_json_lines(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("\n\n".join(map(json.dumps, ROWS)))
    assert images_of([str(file)]) == (FOUND, 1)
    assert is_dataset(str(file))


def test_reads_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([{"docker_image": row.get("docker_image")} for row in ROWS]), file)
    assert images_of([str(file)]) == (FOUND, 1)


def test_a_kilobyte_of_parquet_that_stands_for_gigabytes_is_refused(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    many = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0] * 3000, pyarrow.int32()), pyarrow.array(["x" * (1 << 20)])
    )
    parquet.write_table(pyarrow.table({"prompt": many}), tmp_path / "x.parquet", store_schema=False)
    with pytest.raises(UsageError, match="it unpacks to far more than its size"):
        list(rows_of(str(tmp_path / "x.parquet")))


@pytest.mark.parametrize(("name", "text"), [("x.jsonl", "{"), ("x.parquet", "no parquet"), ("none.jsonl", None)])
def test_a_file_that_does_not_read_is_the_users_to_mend(tmp_path: Path, name: str, text: str | None) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=name):
        images_of([str(tmp_path / name)])
