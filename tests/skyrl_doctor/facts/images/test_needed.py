"""The answer about a dataset's images."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.images.needed import BadName, parse_needed
from skyrl_train.contracts.tasks.images import TaskImage

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
    assert needed.bad == (BadName("d", "'d' is one letter: a name was taken apart where a list was wanted"),)
    assert needed.sources("docker.io/a/bc:1") == frozenset({"r2e-gym"})
    assert needed.named[0] == TaskImage("a/bc:1", "r2e-gym")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"why": "pyarrow is not installed"}', "dataset images: pyarrow is not installed"),
        ("", "dataset images: gave no answer that reads as one"),
        ("{}", "dataset images: its answer names no files"),
        ('{"files": [{"rows": -1, "without": 0, "found": []}]}', "dataset images: its answer has rows = '-1'"),
        ('{"files": [{"rows": 1, "without": 0}]}', "dataset images: its answer has found = 'None'"),
    ],
)
def test_no_answer_is_told(text: str, why: str) -> None:
    with pytest.raises(CouldNotLook, match=f"^{why}$"):
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
