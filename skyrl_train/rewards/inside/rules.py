"""The paths that a patch may not change: tests, what configures them, interpreters and caches. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

SKIPPED = frozenset((
    ".git", ".hg", ".svn", ".venv", ".tox", ".nox", ".eggs", "__pycache__", "node_modules", "site-packages",
    "dist-packages", "r2e_tests", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis",
))  # fmt: skip
"""Directories that are not part of the patch, at any depth."""
CONFIGURATION = frozenset((
    "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml", "setup.py",
    "noxfile.py", ".coveragerc", ".env", "run_tests.sh", ".gitmodules", ".gitattributes",
))  # fmt: skip
HOOKS = frozenset(("conftest", "sitecustomize", "usercustomize"))
"""Modules that Python or pytest imports by their name alone."""
SUFFIXES = (".pyc", ".pyo", ".pth", ".egg-link", ".egg-info", ".dist-info")
TESTING = frozenset((
    "pytest", "_pytest", "pluggy", "py", "iniconfig", "packaging", "exceptiongroup", "tomli", "toml", "attr", "attrs",
    "pygments", "colorama", "coverage", "xdist", "execnet", "unittest2", "nose", "mock", "hypothesis",
))  # fmt: skip
"""Modules of the tests' tools. A file of the repository must not stand in for them."""
_TEST_ROOTS = frozenset(("test", "testing", "Test"))


def parts_of(path: str) -> list[str] | None:
    """The parts of a path inside the repository, or None if it may lead out of it."""
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") or len(part.encode("utf-8", "replace")) > 255 for part in parts):
        return None
    return parts if len(path) <= 4000 else None


def is_protected(parts: Sequence[str], edits: AbstractSet[str] = frozenset()) -> bool:
    """Whether the grader keeps the image's version. `edits`: paths that the task itself changes."""
    name = parts[-1]
    if SKIPPED.intersection(parts) or any(part.endswith(SUFFIXES) for part in parts):
        return True
    if "/".join(parts) in edits:
        return False
    return name in CONFIGURATION or bool(HOOKS & {part.partition(".")[0] for part in parts}) or is_test(parts)


def is_test(parts: Sequence[str]) -> bool:
    """Whether a path is a test. A directory `test` below a package may be a part of the product, as in Django."""
    name, directories = parts[-1], parts[:-1]
    if "tests" in directories or (directories and directories[0] in _TEST_ROOTS):
        return True
    return name.startswith("test_") or name.endswith("_test.py") or name == "tests.py"


def shadows(
    parts: Sequence[str], *, present: AbstractSet[str], packages: AbstractSet[str], modules: AbstractSet[str]
) -> bool:
    """Whether a new file would be imported in place of an installed module.

    `present`: all files and directories of the image's repository; `packages`: its directories with an __init__.py.
    """
    for depth in range(len(parts)):
        if "/".join(parts[: depth + 1]) not in present:
            return "/".join(parts[:depth]) not in packages and parts[depth].partition(".")[0] in modules
    return False
