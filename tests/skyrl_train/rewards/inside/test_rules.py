"""Which paths of a patch the grader takes."""

import pytest

from skyrl_train.rewards.inside import rules
from skyrl_train.rewards.inside.rules import is_protected, parts_of, shadows


@pytest.mark.parametrize(
    "path",
    ["conftest.py", "a/conftest.py", "conftest.abi3.so", "pytest.ini", "a/pyproject.toml", "setup.cfg", "sitecustomize/__init__.py", "tests/a.py", "a/tests/helper.py", "testing/a.py", "a/test_b.py", "a/b_test.py", "x.pth", "a/x.egg-info/entry_points.txt", ".venv/bin/python", "a/__pycache__/b.py", "b.pyc", "r2e_tests/test_1.py", ".git/config", "a/.git/hooks/x"],
)  # fmt: skip
def test_the_image_keeps_tests_their_configuration_and_interpreters(path: str) -> None:
    assert is_protected(path.split("/"))


@pytest.mark.parametrize(
    "path",
    [
        "a/b.py",
        "django/test/client.py",
        "src/_pytest/main.py",
        "a/testing.py",
        "README",
        "a/latest.py",
        "stdlib/unittest/mock.pyi",
        "product/testfiles/reader.py",
    ],
)
def test_the_rest_is_taken(path: str) -> None:
    assert not is_protected(path.split("/"))


def test_what_the_task_itself_edits_is_taken_but_no_environment() -> None:
    edits = frozenset({"setup.cfg", "a/tests/helper.py", ".git/config", "x.pth"})
    assert [path for path in sorted(edits) if not is_protected(path.split("/"), edits)] == [
        "a/tests/helper.py",
        "setup.cfg",
    ]


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", "./a", "a/../b", "..", "a/\0", "a" * 256, "a/" * 2000 + "b"])
def test_a_path_that_may_lead_out_is_none(path: str) -> None:
    assert parts_of(path) is None


def test_a_path_is_its_parts() -> None:
    assert parts_of("a/b\n..c") == ["a", "b\n..c"]


@pytest.mark.parametrize(
    ("path", "shadowed"),
    [("re.py", True), ("re/__init__.py", True), ("src/re.cpython-311.so", True), ("a/re.py", False), ("made.py", False), ("re2.py", False), ("lib/re.py", False), ("src/new/re.py", False)],
)  # fmt: skip
def test_a_new_module_does_not_stand_in_for_an_installed_one(path: str, shadowed: bool) -> None:
    present = frozenset({"a", "a/__init__.py", "src", "src/b.py"})
    found = shadows(path.split("/"), present=present, packages=frozenset({"a"}), modules=frozenset({"re"}))
    assert found is shadowed


def test_a_module_that_the_image_has_may_change() -> None:
    assert not shadows(["re.py"], present={"re.py"}, packages=frozenset(), modules={"re"})


@pytest.mark.parametrize("name", ["pkg/mod.py::pkg.mod.double", "mod.py::mod", "pkg/__init__.py::pkg"])
def test_a_doctest_belongs_to_the_product(name: str) -> None:
    assert rules.tests_own([name], "") == set()
