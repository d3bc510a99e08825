"""Each judge that needs no checkout agrees with us, or its difference stands in the docs."""

import pytest

from benchmarks.suites.cases import ROOT, Judge, row_of
from benchmarks.suites.judges import JUDGES

pytestmark = pytest.mark.suites

HERE = [judge for judge in JUDGES if not judge.checkout]


@pytest.mark.parametrize("judge", HERE, ids=[judge.name for judge in HERE])
def test_a_judge_agrees_with_us(judge: Judge) -> None:
    row = row_of(judge, ROOT, judge.version)
    assert row.cases >= 10
    assert [(case.name, case.ours, case.expected) for case in row.failed] == []
