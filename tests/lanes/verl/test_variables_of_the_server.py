"""What verl sets in a model server before it starts the engine must not keep the engine from being a copy of the fork server.

Read from verl's source: without a GPU its server does not get so far.
"""

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from skyrl_train.rl.forks.request import READ_WHEN_USED

pytestmark = pytest.mark.verl
SERVER = Path("workers", "rollout", "vllm_rollout", "vllm_async_server.py")


def verl() -> Path:
    spec = find_spec("verl")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def set_at_once(function: ast.FunctionDef) -> Iterator[str]:
    """The variables of verl that the function sets whatever its arguments are."""
    for statement in function.body:
        match statement:
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(str(name)))]
            ):
                if name.startswith("VERL_"):
                    yield name


def read_by_an_import(tree: ast.Module, name: str) -> bool:
    """Whether a statement outside of functions names the variable."""
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    return any(
        isinstance(node, ast.Constant) and node.value == name and id(node) not in inside for node in ast.walk(tree)
    )


def test_what_a_server_sets_is_read_when_it_is_used() -> None:
    tree = ast.parse((verl() / SERVER).read_text())
    starts = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    found = {name for start in starts for name in set_at_once(start)}
    assert found == {"VERL_REPLICA_RANK", "VERL_RAY_JOB_ID"}
    assert found <= READ_WHEN_USED


@pytest.mark.parametrize("name", sorted(name for name in READ_WHEN_USED if name.startswith("VERL_")))
def test_no_import_of_verl_reads_it(name: str) -> None:
    sources = [path for path in verl().rglob("*.py") if name in path.read_text()]
    assert sources
    assert [path for path in sources if read_by_an_import(ast.parse(path.read_text()), name)] == []
