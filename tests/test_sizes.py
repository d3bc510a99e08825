"""Small files, short functions, shallow nesting."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("skyrl_doctor", "checks", "skyrl_train")
FILE_LINES = 400
"""The limit; at 250 look whether a file holds one idea."""
FUNCTION_LINES = 60
DEPTH = 3

Function = ast.FunctionDef | ast.AsyncFunctionDef
NESTING = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)


def files() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")


def functions() -> Iterator[tuple[str, Function]]:
    for path, text in files():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, Function):
                yield f"{path}:{node.lineno} {node.name}", node


def length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def depth(node: ast.AST) -> int:
    """How many statements stand inside each other. An elif is no deeper than its if; a function starts anew."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.Lambda | ast.ClassDef):
            continue
        below = depth(child)
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, below + (isinstance(child, NESTING) and not is_elif))
    return deepest


def test_files_are_small() -> None:
    lengths = {path: len(text.splitlines()) for path, text in files()}
    assert {path: lines for path, lines in lengths.items() if lines > FILE_LINES} == {}


def test_functions_are_short() -> None:
    lengths = {name: length(function) for name, function in functions()}
    assert {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES} == {}


def test_nesting_is_shallow() -> None:
    depths = {name: depth(function) for name, function in functions()}
    assert {name: levels for name, levels in depths.items() if levels > DEPTH} == {}


def test_the_measures_measure() -> None:
    source = (
        "def f():\n    for a in b:\n        if c:\n            pass\n        elif d:\n"
        "            with e:\n                try:\n                    pass\n                finally:\n                    pass\n"
        "    def g():\n        while h:\n            pass\n"
    )
    outer, inner = (node for node in ast.walk(ast.parse(source)) if isinstance(node, Function))
    assert (depth(outer), depth(inner)) == (4, 1)
    assert (length(outer), length(inner)) == (13, 3)
