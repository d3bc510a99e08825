"""Checks that an interpreter has the packages that our runtime or trainer needs."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.extras import install
from skyrl_train.launch.role import Role
from skyrl_train.process import run

NEEDED = {
    Role.RUNTIME: ("httpx", "podman", "prometheus_client", "starlette", "uvicorn"),
    Role.TRAINER: ("httpx", "ray", "torch", "transfer_queue", "verl", "vllm"),
}
OR = {Role.RUNTIME: "", Role.TRAINER: ", or set python.interpreter to another Python"}
EXTRA = {Role.RUNTIME: "runtime", Role.TRAINER: "train"}
PROBE = "import sys, importlib.util as u; print(*[name for name in sys.argv[1:] if u.find_spec(name) is None])"
LIMIT_S = 20.0


def refuse_without_packages(role: Role, python: str = sys.executable) -> None:
    """UsageError if a package is missing. An interpreter that does not run here is not judged; the node may have it."""
    missing = _missing_here(NEEDED[role]) if python == sys.executable else _missing(python, NEEDED[role])
    if missing:
        raise UsageError(
            f"{python} has no {', '.join(missing)}, which the {role} needs (extra {EXTRA[role]}); run {install(EXTRA[role], python=python)}{OR[role]}"
        )


def _missing_here(names: Sequence[str]) -> list[str]:
    return [name for name in names if find_spec(name) is None]


def _missing(python: str, names: Sequence[str]) -> list[str]:
    argv = [python, "-c", PROBE, "skyrl_train", *names]
    try:
        done = run(argv, limit_s=LIMIT_S)
    except OSError:
        return []
    return done.text.split() if done.ok else []
