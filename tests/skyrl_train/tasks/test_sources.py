"""Tasks out of files: one at a time, each once."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from skyrl_train.contracts.tasks.rows import BadRow, TaskRow
from skyrl_train.tasks.sources import without_repeats

TASK = TaskRow(
    id="x:1", source="r2e-gym", repo="x", base_commit="a", image="i", problem="p", expected='{"a": "PASSED"}'
)


def test_rows_are_read_one_at_a_time() -> None:
    def rows() -> Iterator[tuple[int, TaskRow | BadRow]]:
        yield 1, TASK
        raise AssertionError("read ahead")

    assert next(iter(without_repeats(rows()))) == TASK


def test_a_task_that_comes_twice_is_kept_once() -> None:
    other = replace(TASK, id="x:2")
    bad = BadRow(3, "no JSON")
    assert list(without_repeats([(1, TASK), (2, TASK), (3, bad), (4, other)])) == [
        TASK,
        BadRow(2, "task x:1 is a duplicate of row 1"),
        bad,
        other,
    ]


@pytest.mark.parametrize("count", [3])
def test_names_that_are_no_unicode_are_names(count: int) -> None:
    rows = [(number, replace(TASK, id=f"\ud800{number}")) for number in range(count)]
    assert len(list(without_repeats(rows))) == count
