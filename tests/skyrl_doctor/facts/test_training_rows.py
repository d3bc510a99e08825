"""The rows of a dataset: the answer parsed, and the child program as it runs."""

import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.training_rows import TrainingRows, parse_rows, training_rows
from skyrl_doctor.machine.local import LocalMachine
from skyrl_train.contracts.extras import install
from support import plan_of


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "training data printed no JSON object"),
        ("{}", "training data: files is missing"),
        (
            '{"files": [{"rows": -1, "without": 0, "found": []}]}',
            "training data: files[0].rows is -1; expected at least 0",
        ),
        ('{"files": [{"rows": 1, "without": 0}]}', "training data: files[0].found is missing"),
    ],
)
def test_no_answer_is_told(text: str, why: str) -> None:
    with pytest.raises(CouldNotLook, match=f"^{re.escape(why)}$"):
        parse_rows(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["files", "found", "rows", "without", "file", "docker_image"]), inner)
        ),
        max_leaves=12,
    )
)
def test_any_answer_is_read_or_refused(answer: object) -> None:
    try:
        rows = parse_rows(json.dumps(answer))
    except CouldNotLook:
        return
    assert rows.count >= 0


ROWS = [
    {"docker_image": "a/bc:1", "problem_statement": "x" * 1000},
    {"instance": {"instance_id": "a/bd:1"}, "data_source": "r2e-gym"},
    {"docker_image": "a/bc:1"},
    {"nothing": 1},
]


def read(file: Path) -> TrainingRows:
    return training_rows(LocalMachine({}), plan_of(data__train_files=[str(file)]), Environ({}))


def names(file: Path) -> tuple[list[str], int, int]:
    rows = read(file)
    return [image.name for image in rows.images], rows.count, rows.without


def test_json_lines(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text("\n".join(map(json.dumps, ROWS)) + "\n\n")
    assert names(file) == (["a/bc:1", "a/bd:1"], 4, 1)


def test_parquet(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "d.parquet"
    table = pyarrow.Table.from_pylist([{"extra_info": {"image": "docker.io/a/bc:1", "index": n}} for n in range(600)])
    parquet.write_table(table, file, row_group_size=100)
    assert names(file) == (["docker.io/a/bc:1"], 600, 0)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("d.jsonl", "{", "cannot be read: JSONDecodeError"),
        ("d.txt", "x", "is neither parquet nor JSON lines"),
        ("d.parquet", "x", "cannot be read"),
    ],
)
def test_what_does_not_read_is_told(tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text)
    found = read(tmp_path / name)
    assert (found.count, bool(re.search(why, found.unread))) == (0, True)


def test_an_interpreter_without_pyarrow_is_told_how_to_get_it(tmp_path: Path) -> None:
    file = tmp_path / "d.parquet"
    file.write_text("x")
    (tmp_path / "pyarrow.py").write_text("raise ImportError")
    machine = LocalMachine({"PYTHONPATH": str(tmp_path)})
    assert training_rows(machine, plan_of(data__train_files=[str(file)]), Environ({})) == TrainingRows(
        unread=f"pyarrow is not installed, so {file} cannot be read; run {install('data', python=sys.executable)}"
    )
