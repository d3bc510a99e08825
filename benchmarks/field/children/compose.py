"""Composes Hydra configurations. Reads one JSON request a line from stdin and writes one JSON answer a line.

Request: directory, tree, file, config_path, config_name, overrides. Answer: refused, a map from each override that
Hydra refuses to its message; `broken`, why nothing can be composed.
"""

import importlib.machinery
import json
import os
import sys
from typing import ClassVar

from culprits import culprits


class BareFinder:
    """Finds the packages of a checkout without running them, for `pkg://` in a search path."""

    tree = ""
    made: ClassVar = set()

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        folder = os.path.join(cls.tree, *name.split("."))
        if not cls.tree or name.split(".")[0] in ("hydra", "omegaconf", "yaml") or not os.path.isdir(folder):
            return None
        cls.made.add(name)
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [folder]
        return spec


def main():
    sys.meta_path.insert(0, BareFinder)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


def answer(request):
    BareFinder.tree = request["tree"]
    for name in BareFinder.made:
        sys.modules.pop(name, None)
    BareFinder.made.clear()
    os.chdir(request["directory"])
    refused, broken = culprits(request["overrides"], lambda overrides: compose(request, overrides))
    return {"refused": refused, "broken": broken}


def compose(request, overrides):
    from hydra import compose as compose_with
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from omegaconf import OmegaConf

    OmegaConf.clear_resolvers()
    GlobalHydra.instance().clear()
    folder = request["config_path"] or "."
    if not os.path.isabs(folder):
        folder = os.path.join(os.path.dirname(request["file"]), folder)
    with initialize_config_dir(os.path.abspath(folder), version_base=None):
        compose_with(request["config_name"], overrides=overrides)


if __name__ == "__main__":
    main()
