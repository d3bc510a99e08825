"""OpenHands' own tests of its tools as judges of ours."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.suites.cases import Case
from benchmarks.suites.foreign import foreign_tests

EDITOR = (
    "tests/tools/file_editor/test_basic_operations.py",
    "tests/tools/file_editor/test_error_handling.py",
    "tests/tools/file_editor/test_file_validation.py",
)
DIFFERENT: dict[str, str] = {}


def editor(checkout: Path) -> Iterator[Case]:
    """OpenHands' tests of its file editor, of ours."""
    yield from foreign_tests(checkout, EDITOR, "benchmarks.suites.adapters.openhands_editor", DIFFERENT)
