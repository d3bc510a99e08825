"""Gold patches of rows."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.tasks.gold import GoldDiff, GoldFiles, gold_of, is_test


def r2e(*diffs: dict[str, Any]) -> dict[str, str]:
    return {"parsed_commit_content": json.dumps({"file_diffs": diffs})}


def diff(path: str, after: str | None) -> dict[str, Any]:
    return {"header": {"file": {"path": path}, "misc_line": None}, "old_file_content": "a", "new_file_content": after}


def test_r2e_gym_keeps_whole_files_and_its_tests_are_left_out() -> None:
    row = r2e(diff("a/b.py", "x = 1\n"), diff("a/tests/test_b.py", "t"), diff("gone.py", ""))
    assert gold_of(row) == gold_of({"instance": row}) == GoldFiles({"a/b.py": "x = 1\n", "gone.py": None})


def test_swe_bench_keeps_a_diff() -> None:
    assert gold_of({"patch": "diff --git a/x b/x"}) == GoldDiff("diff --git a/x b/x\n")


@pytest.mark.parametrize(
    "row",
    [
        *(None, 1, {}, {"patch": " "}, {"parsed_commit_content": "{"}, r2e(), r2e(diff("tests/test_a.py", "x"))),
        *(r2e(diff("/etc/passwd", "x")), r2e(diff("../a", "x")), r2e({"header": 1}), r2e(diff("a", 1))),  # type: ignore[arg-type]
    ],
)
def test_no_patch_is_none(row: object) -> None:
    assert gold_of(row) is None


def test_tests_are_known_by_their_names() -> None:
    names = ("test_a.py", "a/test_b.py", "tests/a.py", "a_test.py", "a/test/x.c", "testing/a.py", "a/contest.py")
    assert [is_test(name) for name in names] == [True, True, True, True, True, False, False]


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["file_diffs", "header", "file", "path"]), x),
    )
)
def test_any_commit_is_a_patch_or_none(commit: Any) -> None:
    gold_of({"parsed_commit_content": json.dumps(commit)})
