"""Reads the model types of the installed transformers from its source, because importing it takes seconds."""

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

import importlib.util
import json
import re

FILES = ("auto_mappings.py", "configuration_auto.py")
PAIR = re.compile(r"""["']([\w.\-]+)["']\s*,\s*["'](\w+Config)["']""")
CAUSAL = re.compile(r"MODEL_FOR_CAUSAL_LM_MAPPING_NAMES\b[^=]*=(.*?)\n\)", re.DOTALL)
NAME = re.compile(r"""\(\s*["']([\w.\-]+)["']\s*,""")


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def main():
    spec = importlib.util.find_spec("transformers")
    if spec is None or not spec.submodule_search_locations:
        sys.stdout.write(json.dumps({"installed": False, "types": [], "causal": []}) + "\n")
        return
    auto = os.path.join(next(iter(spec.submodule_search_locations)), "models", "auto")
    types = {name for file in FILES for name, _ in PAIR.findall(read(os.path.join(auto, file)))}
    causal = CAUSAL.search(read(os.path.join(auto, "modeling_auto.py")))
    names = NAME.findall(causal.group(1)) if causal else []
    sys.stdout.write(json.dumps({"installed": True, "types": sorted(types), "causal": sorted(set(names))}) + "\n")


main()
