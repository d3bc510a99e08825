"""docs/security.md and docs/slurm-site.md name the tests of each promise; they exist."""

import re
from pathlib import Path

import pytest

from lanes.attacks.areas import AREAS, area_of

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([^|]+) \| (`tests/[^|]+) \|$", re.MULTILINE)


def test_the_page_names_the_tests_of_each_area() -> None:
    named = {area: tuple(re.findall(r"`tests/([^`]+)`", tests)) for area, tests in ROW.findall(PAGE)}
    assert named == AREAS


def test_each_of_them_exists_and_has_tests() -> None:
    every = [file for files in AREAS.values() for file in files]
    assert len(set(every)) == len(every)
    assert [file for file in every if "def test_" not in (ROOT / "tests" / file).read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("page", ["security.md", "slurm-site.md"])
def test_paths_on_the_page_exist(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    paths = re.findall(r"`((?:tests|skyrl_train|skyrl_doctor|\.ci)/[^` ]+)`", text)
    assert len(paths) > 5
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_a_test_counts_for_the_area_of_its_file() -> None:
    assert area_of("tests/lanes/attacks/test_races.py::test_x[a]") == "links and races"
    assert area_of("tests/test_docs.py::test_x") is None
