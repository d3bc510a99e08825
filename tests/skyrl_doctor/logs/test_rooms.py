"""No two files of logs import each other, not even through others. The order of the rooms is a contract in pyproject.toml."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[3]
LOGS = ROOT / "skyrl_doctor" / "logs"


def imported(file: Path) -> set[Path]:
    """The files of logs that a file imports, also inside its functions."""
    nodes = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom) and node.module]
    names = {f"{node.module}.{alias.name}" for node in nodes for alias in node.names} | {
        str(node.module) for node in nodes
    }
    files = {ROOT / f"{name.replace('.', '/')}.py" for name in names}
    return {one for one in files if one.is_relative_to(LOGS) and one.exists()}


def test_no_files_import_each_other() -> None:
    graph = {file: imported(file) for file in sorted(LOGS.rglob("*.py"))}
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError, which names the cycle
    assert sorted(order) == sorted(graph)
