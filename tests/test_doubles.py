"""Every test double is listed with the failures that it hides."""

import re
from pathlib import Path

import pytest

from skyrl_doctor.catalogue import catalogue

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "test-doubles.md").read_text(encoding="utf-8")
DOUBLES = sorted(
    str(path.relative_to(ROOT))
    for place in ("cpu_stack/*.py", "fakes/*", "lanes/*/*stand*in*")
    for path in (ROOT / "tests").glob(place)
    if not path.name.startswith("__")
)
PACKAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "tests").rglob("test_*.py")
    if re.search(r"sys\.modules, .*\bModuleType\(", path.read_text(encoding="utf-8"))
)
"""Tests that put a module of their own in the place of another package's."""


@pytest.mark.parametrize("double", [*DOUBLES, *PACKAGES])
def test_a_double_is_listed(double: str) -> None:
    assert f"`{double}`" in PAGE


def test_what_the_page_names_exists() -> None:
    ids = {entry.id for entry in catalogue().entries}
    assert set(re.findall(r"\b[A-Z]{3}\d{3}\b", PAGE)) - ids == set()
    assert [path for path in re.findall(r"`(tests/[\w./]+)`", PAGE) if not (ROOT / path).exists()] == []
