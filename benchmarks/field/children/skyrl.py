"""Parses the overrides of SkyRL's entry points with SkyRL's own configuration classes.

Reads one JSON request a line, writes one JSON answer a line. Request: tree, directory, module, overrides. Answer:
refused, broken. Other packages (torch, ray) are replaced by empty ones, and only an error inside
`from_cli_overrides` counts.
"""

import abc
import contextlib
import importlib
import importlib.machinery
import io
import json
import os
import sys
import traceback
import types
import unittest.mock

from culprits import culprits

REAL = (
    "omegaconf",
    "yaml",
    "antlr4",
    "numpy",
    "attr",
    "attrs",
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "typing_extensions",
    "typing_inspection",
    "culprits",
)
TYPES = ("dtype", "device")
OURS = ("skyrl", "skyrl_gym", "examples", "integrations", "skyrl_agent")


def is_config(name):
    """Whether a module of SkyRL is needed to parse its configuration."""
    return name == "skyrl.train" or name.startswith(
        ("skyrl.train.config", "skyrl.train.entrypoints", "skyrl.train.main")
    )


class AnyType(abc.ABCMeta):
    """A class that has every attribute and takes every subscript."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return unittest.mock.MagicMock(name=name, side_effect=called)

    def __getitem__(cls, key):
        return cls


def nothing(self, *words, **named):
    pass


class Empty(types.ModuleType):
    """A module that has every name."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name.startswith("is_"):
            return lambda *words, **named: False
        made = (
            AnyType(name, (), {"__init__": nothing})
            if name[:1].isupper() or name in TYPES
            else unittest.mock.MagicMock(name=name, side_effect=called)
        )
        setattr(self, name, made)
        return made


def called(*words, **named):
    """A decorator returns what it decorates; another call returns an object."""
    return words[0] if len(words) == 1 and callable(words[0]) else unittest.mock.MagicMock()


class EmptyFinder:
    """Finds an empty module for every package that the configuration classes do not need."""

    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if name.startswith("skyrl.") and not is_config(name):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if top in (*OURS, *REAL) or top.startswith("_") or top in sys.stdlib_module_names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Empty(spec.name)

    def exec_module(self, module):
        pass


def main():
    sys.meta_path.insert(0, EmptyFinder())
    answers = sys.stdout
    for line in sys.stdin:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            made = answer(json.loads(line))
        print(json.dumps(made), file=answers, flush=True)


def answer(request):
    tree = request["tree"]
    for folder in (tree, os.path.join(tree, "skyrl-gym"), os.path.join(tree, "skyrl-agent")):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    os.chdir(request["directory"])
    try:
        entry = importlib.import_module(request["module"])
    except BaseException:
        return {"refused": {}, "broken": traceback.format_exc()[-700:]}
    if not hasattr(entry, "main"):
        return {"refused": {}, "broken": "no main()"}
    refused, broken = culprits(request["overrides"], lambda overrides: parse(entry, overrides))
    return {"refused": refused, "broken": broken}


def parse(entry, overrides):
    sys.argv = [entry.__file__, *overrides]
    try:
        entry.main()
    except BaseException as error:
        if any(frame.name == "from_cli_overrides" for frame in traceback.extract_tb(error.__traceback__)):
            raise ValueError(str(error)) from None


if __name__ == "__main__":
    main()
