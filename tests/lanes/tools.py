"""The lanes, and how to tell that a lane's tool is missing."""

import functools
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path


def _command(*names: str) -> str | None:
    missing = [name for name in names if shutil.which(name) is None]
    return f"{missing[0]} is not installed" if missing else None


def _module(name: str) -> str | None:
    return None if importlib.util.find_spec(name) else f"the package {name} is not installed"


def _beside(name: str) -> str | None:
    return None if (Path(sys.executable).parent / name).exists() else f"{name} is not installed"


def _gpu() -> str | None:
    return _command("nvidia-smi")


def _any_of(*looks: str | None) -> str | None:
    return next((reason for reason in looks if reason), None)


def _cgroup2(*controllers: str) -> str | None:
    try:
        offered = Path("/sys/fs/cgroup/cgroup.controllers").read_text().split()
    except OSError:
        return "control groups are not of version 2"
    missing = [name for name in controllers if name not in offered]
    return f"the controller {missing[0]} is not there" if missing else None


LANES: dict[str, Callable[[], str | None]] = {
    "slurm": lambda: _command("slurmctld", "slurmd", "sbatch", "munged"),
    "podman": lambda: _command("podman"),
    "attacks": lambda: _command("podman"),
    "vllm": lambda: _module("vllm"),
    "verl": lambda: _module("verl"),
    "openhands": lambda: _module("openhands"),
    "suites": lambda: _any_of(*map(_module, ("swebench", "verl", "hydra", "picklescan", "safetensors", "xmlschema"))),
    "gpu": _gpu,
    "loaders": lambda: _any_of(_module("torch"), _module("safetensors")),
    "hang": lambda: _any_of(_beside("py-spy"), _module("torch"), _module("ray")),
    "browser": lambda: _any_of(
        _command("chromium"), None if os.environ.get("AXE_CORE") else "AXE_CORE does not name axe-core"
    ),
    "release": lambda: _any_of(_command("git"), _module("hatchling"), _beside("pre-commit")),
    "cgroup2": lambda: _cgroup2("memory", "pids"),
    "e2e": lambda: _any_of(_command("slurmctld", "podman"), _module("verl"), _module("vllm")),
}


@functools.cache
def missing_tool(lane: str) -> str | None:
    """Why a lane cannot run here; None where it can."""
    return LANES[lane]()
