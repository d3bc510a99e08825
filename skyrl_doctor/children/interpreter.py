"""Prints the version, header directory and installed distributions of the interpreter that runs it.

Versions come from the names of the metadata directories. Requirements are read for a few packages only.
"""

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

import json
import re
import sysconfig

# Their requirements decide whether the training packages fit together.
OPENED = re.compile(
    r"(?:verl|vllm(?:-.*)?|sglang|torch|torchvision|torchaudio|transformers|ray|xformers|flash-attn|skyrl-doctor|openhands-.*)"
)
HEADER_LIMIT = 1 << 20


def include_directory():
    """The header directory, found as in triton/runtime/build.py: Debian's own scheme has no headers."""
    names = ("get_default_scheme", "_get_default_scheme")  # the second one before Python 3.10
    scheme = next(getattr(sysconfig, name) for name in names if hasattr(sysconfig, name))()
    return sysconfig.get_paths("posix_prefix" if scheme == "posix_local" else scheme)["include"]


def distributions():
    """Yields [name, version, metadata path] in the order of sys.path. The first of a name is the one that is imported."""
    for entry in sys.path:
        try:
            names = sorted(os.listdir(entry or "."))
        except OSError:
            continue
        for name in names:
            stem, kind = os.path.splitext(name)
            if kind in (".dist-info", ".egg-info") and not stem.startswith("~"):
                yield describe_distribution(stem, kind, os.path.join(entry, name))


def describe_distribution(stem, kind, path):
    if kind == ".egg-info":
        stem = re.sub(r"-py3(?:\.\d+)?$", "", stem)
    name, _, version = stem.rpartition("-") if "-" in stem else (stem, "", "")
    if not version:
        version = next(iter(fields(path, "version")), "")
    return [re.sub(r"[-_.]+", "-", name).lower(), version, path]


def fields(path, field):
    """Values of one field in the header of a distribution's metadata."""
    for name in ("METADATA", "PKG-INFO", ""):
        try:
            with open(os.path.join(path, name) if name else path, encoding="utf-8", errors="replace") as file:
                header = file.read(HEADER_LIMIT).partition("\n\n")[0]
        except OSError:
            continue
        pairs = (line.partition(":") for line in header.splitlines())
        return [value.strip() for key, _, value in pairs if key.lower() == field]
    return []


def describe_interpreter():
    include = include_directory()
    first: dict[str, str] = {}
    by_directory: dict[str, list[str]] = {}
    for name, version, path in distributions():
        first.setdefault(name, path)
        by_directory.setdefault(os.path.dirname(path), []).append(name + "==" + version)
    return {
        "version": "{}.{}.{}".format(*sys.version_info[:3]),
        "implementation": sys.implementation.name,
        "platform": sys.platform,
        "machine": os.uname().machine,
        "executable": sys.executable,
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
        "include": include,
        "header": os.path.isfile(os.path.join(include, "Python.h")),
        "distributions": by_directory,
        "requires": {name: fields(path, "requires-dist") for name, path in first.items() if OPENED.fullmatch(name)},
    }


if __name__ == "__main__":
    print(json.dumps(describe_interpreter()))  # noqa: T201 -- a child prints its answer
