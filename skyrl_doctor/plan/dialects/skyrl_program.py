"""The own files of a program that takes SkyRL's keys: its entry point, and the modules beside it that this one imports."""

import ast
import os
from collections.abc import Iterator

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.schemas.schema import Schema
from skyrl_doctor.plan.schemas.versions import MAX_SOURCE_BYTES
from skyrl_doctor.plan.source import folders_above

PACKAGES, VALIDATE = ("skyrl.train.", "skyrl_train."), "validate_cfg"
"""Where SkyRL's check of the settings is, and its name."""
_OF_SKYRL = ("skyrl.", "skyrl_train.", "skyrl_gym.")
MAX_MODULES = 60
"""Modules that are looked for. Most imports are of installed packages, whose files are not beside the program."""


@record
class Program:
    """The syntax trees of the own files, the entry point first."""

    trees: tuple[ast.Module, ...]

    def adds(self, key: str, schema: Schema) -> bool:
        """Whether a class of the own files has the key, or the table in which SkyRL lacks it."""
        parts = key.split(".")
        tables = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
        first_new = next((table for table in tables if schema.type_of(table) is None), key)
        return not {parts[-1], first_new.rpartition(".")[2]}.isdisjoint(self._fields)

    @property
    def _fields(self) -> set[str]:
        """The names of the fields of every class."""
        classes = (node for tree in self.trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
        statements = (one for each in classes for one in each.body if isinstance(one, ast.AnnAssign))
        return {one.target.id for one in statements if isinstance(one.target, ast.Name)}

    @property
    def validates(self) -> bool:
        """Whether the entry point imports SkyRL's validate_cfg and calls it."""
        nodes = list(ast.walk(self.trees[0]))
        imported = any(
            isinstance(node, ast.ImportFrom)
            and (node.module or "").startswith(PACKAGES)
            and any(name.name == VALIDATE and name.asname is None for name in node.names)
            for node in nodes
        )
        return imported and any(
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == VALIDATE
            for node in nodes
        )


def program_of_files(machine: Machine, file: str, module: str) -> Program | None:
    """The program that a target starts; None if the file of its entry point is not in a directory above the target."""
    folders = folders_above(machine, file)
    entry = _tree(machine, folders, module)
    if entry is None:
        return None
    path, tree = entry
    folders = (*folders, os.path.dirname(path))  # `python path/to/main.py` finds the modules beside it
    trees, todo, seen = [tree], list(_imports(tree, module)), {module}
    while todo and len(seen) <= MAX_MODULES:
        name = todo.pop(0)
        if name in seen or name.startswith(_OF_SKYRL):
            continue
        seen.add(name)
        found = _tree(machine, folders, name)
        if found is not None:
            trees.append(found[1])
            todo += _imports(found[1], name)
    return Program(tuple(trees))


def _tree(machine: Machine, folders: tuple[str, ...], module: str) -> tuple[str, ast.Module] | None:
    for folder in folders:
        path = f"{folder}/{module.replace('.', '/')}.py"
        try:
            return path, ast.parse(machine.read(path, limit_bytes=MAX_SOURCE_BYTES))
        except (CouldNotLook, SyntaxError, ValueError, RecursionError):
            continue
    return None


def _imports(tree: ast.Module, module: str) -> Iterator[str]:
    """The modules from which a module imports names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            package = module.rsplit(".", node.level)[0] if 0 < node.level <= module.count(".") else ""
            name = ".".join(part for part in (package, node.module or "") if part)
            if name:
                yield name
