"""A case that is not as the judge has it differs on purpose if a page says so, and fails otherwise."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.suites.cases import Case, Judge, Row, row_of

GOOD = Case("good", 1, 1, "docs/suites.md: no such sentence")
DOCUMENTED = Case("documented", 1, 2, "docs/suites.md: Nothing of a checkout is kept.")
NOT_DOCUMENTED = Case("not documented", 1, 2)
SENTENCE_GONE = Case("sentence gone", 1, 2, "docs/suites.md: no such sentence")
PAGE_ALONE = Case("page alone", 1, 2, "docs/suites.md")


def _cases(_: Path) -> Iterator[Case]:
    yield from (GOOD, DOCUMENTED, NOT_DOCUMENTED, SENTENCE_GONE, PAGE_ALONE)


def test_a_difference_needs_its_sentence_in_the_docs() -> None:
    judge = Judge(name="a", of="b", cases=_cases)
    assert row_of(judge, Path(), "1") == Row(
        judge, "1", 5, 1, (DOCUMENTED,), (NOT_DOCUMENTED, SENTENCE_GONE, PAGE_ALONE)
    )
