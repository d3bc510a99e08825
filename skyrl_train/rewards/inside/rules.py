"""The paths that a patch may not change: tests, what configures them, interpreters and caches. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

SKIPPED = frozenset((
    ".git", ".hg", ".svn", ".venv", ".tox", ".nox", ".eggs", "__pycache__", "node_modules", "site-packages",
    "dist-packages", "r2e_tests", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis",
))  # fmt: skip
"""Directories that are not part of the patch, at any depth."""
CONFIGURATION = frozenset((
    "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml", "setup.py",
    "noxfile.py", ".coveragerc", ".env", "run_tests.sh", ".gitmodules", ".gitattributes", "Makefile", "makefile", "GNUmakefile",
))  # fmt: skip
HOOKS = frozenset(("conftest", "sitecustomize", "usercustomize"))
"""Modules that Python or pytest imports by their name alone."""
SUFFIXES = (".pyc", ".pyo", ".pth", ".egg-link", ".egg-info", ".dist-info")
"""In any case of letters: Python finds the entry points of `x.DIST-INFO` too."""
TESTING = frozenset((
    "pytest", "_pytest", "pluggy", "py", "iniconfig", "packaging", "exceptiongroup", "tomli", "toml", "attr", "attrs",
    "pygments", "colorama", "coverage", "xdist", "execnet", "unittest2", "nose", "mock", "hypothesis",
))  # fmt: skip
"""Modules of the tests' tools. A file of the repository must not stand in for them."""
_TEST_ROOTS = frozenset(("test", "testing", "Test"))
_TEST_DIRECTORY = re.compile(
    r"tests|(?:unit|functional|integration)(?:[-_]tests?|tests)|tests?(?:suites?|cases|data|[-_](?:suites?|cases|data|files|fixtures|resources))"
)
_WORD = re.compile(r"(?:(?<=python )|(?<=python3 )|(?![\w./+-]*\.py\b))(?<![\w./+-])[\w./+-]+")
"""A word of a script; a module only where Python runs it, as a script may look into the product."""
# "test_e (app.checks.CaseE)", "test_e (app.checks.CaseE.test_e)"
_IN_MODULE = re.compile(r"\w+ \(([\w.]+)\)")


def parts_of(path: str) -> list[str] | None:
    """The parts of a path inside the repository, or None if it may lead out of it."""
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") or len(part.encode("utf-8", "replace")) > 255 for part in parts):
        return None
    return parts if len(path) <= 4000 else None


def is_protected(
    parts: Sequence[str], edits: AbstractSet[str] = frozenset(), own: AbstractSet[str] = frozenset()
) -> bool:
    """Whether the grader keeps the image's version. `edits`: paths that the task itself changes; `own`: see `tests_own`."""
    name = parts[-1]
    if SKIPPED.intersection(parts) or any(part.lower().endswith(SUFFIXES) for part in parts):
        return True
    if "/".join(parts) in edits:
        return False
    if name in CONFIGURATION or HOOKS & {part.partition(".")[0] for part in parts} or is_test(parts):
        return True
    return "/".join(parts) in own or any("/".join(parts[:depth]) + "/" in own for depth in range(len(parts)))


def tests_own(names: Iterable[str], script: str) -> AbstractSet[str]:
    """The files of a task's own tests, and directories with a slash at the end: those of the expected tests, and the
    files that the script names.

    A doctest belongs to the product. A directory `test` with an expected test has its helpers.
    """
    found = {_relative(word) for word in _WORD.findall(script)}
    for name in names:
        path, _, test = name.partition("::")
        if path.endswith(".py") and not _is_doctest(path, test):
            parts = path.split("/")
            found.add(path)
            found.update("/".join(parts[:at]) + "/" for at in range(1, len(parts)) if parts[at - 1] in _TEST_ROOTS)
        elif module := _IN_MODULE.fullmatch(name):
            parts = module[1].split(".")
            found.update("/".join(parts[:at]) + ".py" for at in range(1, len(parts)))
    return found


def _is_doctest(path: str, test: str) -> bool:
    """Named by its module: `pkg/mod.py::pkg.mod.function`, `mod.py::mod`, `pkg/__init__.py::pkg`."""
    name = test.partition("[")[0]
    return "." in name or name == path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]


def _relative(word: str) -> str:
    """A word of a script as a path in the repository."""
    path = word.rpartition("/testbed/")[2].rstrip("/")
    while path.startswith("./"):
        path = path[2:]
    return path


def is_test(parts: Sequence[str]) -> bool:
    """Whether a path is a test. A directory `test` below a package may be a part of the product, as in Django."""
    name, directories = parts[-1], parts[:-1]
    if any(map(_TEST_DIRECTORY.fullmatch, directories)) or (directories and directories[0] in _TEST_ROOTS):
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
