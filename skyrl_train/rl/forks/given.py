"""The variables of vLLM that verl gives its workers, read from verl's source: an import of verl takes seconds."""

import ast
import os
from importlib.machinery import PathFinder

from skyrl_train.contracts import bounded

PLACE = os.path.join("trainer", "constants_ppo.py")
NAMES = "VLLM_"


def given_by_verl() -> dict[str, str]:
    """Empty where verl has no such file."""
    spec = PathFinder.find_spec("verl")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        try:
            return written_in(bounded.read_text(os.path.join(folder, PLACE)))
        except (OSError, SyntaxError, ValueError):
            continue
    return {}


def written_in(source: str) -> dict[str, str]:
    """The names and texts of every table in the source."""
    tables = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Dict))
    pairs = (pair for table in tables for pair in zip(table.keys, table.values, strict=True))
    found = {
        key.value: value.value
        for key, value in pairs
        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant) and isinstance(key.value, str)
    }
    return {name: text for name, text in found.items() if name.startswith(NAMES) and isinstance(text, str)}
