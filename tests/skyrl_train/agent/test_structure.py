"""What the agent is made of: records and code of its own, no live objects of the SDK, no files, no remote paths."""

import ast
import sys
from pathlib import Path

import pytest

import skyrl_train
from skyrl_train.agent import inside

SHARED = ("contracts/agent", "contracts/rewards", "contracts/tasks")
PACKAGES = [Path(skyrl_train.__file__).parent / name for name in ("agent", "demo", "rewards", "tasks", *SHARED)]
MODULES = [path for package in PACKAGES for path in sorted(package.rglob("*.py"))]
OPENS_FILES = {"journal.py", "datasets.py", "sources.py", "sinks.py"}
# what runs in a sandbox has its paths for its own, and what makes one here gets a directory of this machine
AT_THE_SANDBOX = {"inside", "sandboxes", "demo"}


def imported(path: Path) -> set[str]:
    """The top-level names of what a module imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_no_object_of_the_sdk_lives_here(path: Path) -> None:
    """AGT007 to AGT011: what is frozen, cannot be copied or is unknown to a server is never held."""
    assert not imported(path) & {"openhands", "ray", "torch", "verl", "vllm", "transformers"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_no_path_of_a_sandbox_is_opened_here(path: Path) -> None:
    """AGT012: `/testbed` is a path in the sandbox. Only journals and data sets are files of this machine."""
    if path.name not in OPENS_FILES and path.parent.name not in AT_THE_SANDBOX:
        assert not imported(path) & {"os", "shutil", "subprocess", "tempfile"}
        assert not _calls_open(path)


def _calls_open(path: Path) -> bool:
    calls = [node.func for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    names = {call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls}
    return bool(names & {"open", "read_text", "read_bytes", "write_text", "write_bytes", "mkdir"})


def test_no_template_can_be_left_behind() -> None:
    """AGT013: packaging for workers may drop whatever is not Python."""
    others = {path.name for package in PACKAGES for path in package.rglob("*") if path.is_file()}
    assert {name for name in others if not name.endswith((".py", ".pyc"))} == set()


@pytest.mark.parametrize("path", sorted(Path(inside.__path__[0]).glob("*.py")), ids=lambda path: path.name)
def test_what_runs_in_a_sandbox_needs_an_old_python_and_nothing_else(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 8))
    assert "from __future__ import annotations" in text or path.name == "__init__.py"
    assert imported(path) - {"skyrl_train", "__future__"} <= sys.stdlib_module_names
    own = {node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom) and node.module}
    assert {name for name in own if name.startswith("skyrl_train") and not name.startswith(inside.__name__)} == set()
