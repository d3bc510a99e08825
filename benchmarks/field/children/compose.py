"""Composes Hydra configurations. Reads one JSON request a line from stdin and writes one JSON answer a line.

Request: directory, tree, file, config_path, config_name, overrides. Answer: refused, a map from each override that
Hydra refuses to its message; `broken`, why nothing can be composed.
"""

import json
import os
import sys

from culprits import culprits

PACKAGE = "pkg://"


def main():
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


def answer(request):
    os.chdir(request["directory"])
    read_packages_as_folders(request["tree"])
    refused, broken = culprits(request["overrides"], lambda overrides: compose(request, overrides))
    return {"refused": refused, "broken": broken}


def read_packages_as_folders(tree):
    """Lets `pkg://a.b` of a search path mean the folder a/b of the checkout, so that no package is imported."""
    from hydra._internal.config_search_path_impl import ConfigSearchPathImpl

    def get_path(self):
        for element in self.config_search_path:
            folder = os.path.join(tree, *element.path.removeprefix(PACKAGE).split("."))
            if element.path.startswith(PACKAGE) and os.path.isdir(folder):
                element.path = "file://" + folder
        return self.config_search_path

    ConfigSearchPathImpl.get_path = get_path


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
