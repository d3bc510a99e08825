"""The images that a dataset names: the answer parsed, and the child program as it runs."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.images.needed import BadName, needed_images, parse_needed
from skyrl_doctor.machine.local import LocalMachine
from skyrl_train.contracts.tasks.images import TaskImage
from support import plan_of

ANSWER = {
    "files": [
        {
            "file": "/d.jsonl",
            "rows": 4,
            "without": 1,
            "found": [{"docker_image": "a/bc:1"}, {"image": "docker.io/a/bc:1"}, {"docker_image": "d"}],
        }
    ]
}


def test_names_once_and_bad_ones_apart() -> None:
    needed = parse_needed(f"noise\n{json.dumps(ANSWER)}\n", prefix="docker.io/")
    assert (needed.files, needed.rows, needed.without) == (("/d.jsonl",), 4, 1)
    assert list(needed.references) == ["docker.io/a/bc:1"]
    assert needed.bad == (BadName("d", "'d' is one letter; a string was probably split where a list was expected"),)
    assert needed.sources("docker.io/a/bc:1") == frozenset({"r2e-gym"})
    assert needed.named[0] == TaskImage("a/bc:1", "r2e-gym")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"why": "pyarrow is not installed"}', "dataset images: pyarrow is not installed"),
        ("", "dataset images printed no JSON object"),
        ("{}", "dataset images: files is missing"),
        (
            '{"files": [{"rows": -1, "without": 0, "found": []}]}',
            "dataset images: files[0].rows is -1; expected at least 0",
        ),
        ('{"files": [{"rows": 1, "without": 0}]}', "dataset images: files[0].found is missing"),
    ],
)
def test_no_answer_is_told(text: str, why: str) -> None:
    with pytest.raises(CouldNotLook, match=f"^{re.escape(why)}$"):
        parse_needed(text, prefix="docker.io/")


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
        needed = parse_needed(json.dumps(answer), prefix="docker.io/")
    except CouldNotLook:
        return
    assert isinstance(needed.references, dict)
    assert needed.rows >= 0


ROWS = [
    {"docker_image": "a/bc:1", "problem_statement": "x" * 1000},
    {"instance": {"instance_id": "a/bd:1"}, "data_source": "r2e-gym"},
    {"docker_image": "a/bc:1"},
    {"nothing": 1},
]


def names(file: Path) -> tuple[list[str], int, int]:
    needed = needed_images(LocalMachine({}), plan_of(data__train_files=[str(file)]), Environ({}))
    return [image.name for image in needed.named], needed.rows, needed.without


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
    with pytest.raises(CouldNotLook, match=why):
        names(tmp_path / name)
