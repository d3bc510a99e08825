"""The packages that our own runtime and our own trainer want of the interpreter that runs them."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec

from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch.role import Role
from skyrl_train.process import run

NEEDED = {
    Role.RUNTIME: ("httpx", "podman", "prometheus_client", "starlette", "uvicorn"),
    Role.TRAINER: ("httpx", "ray", "torch", "transfer_queue", "verl", "vllm"),
}
CURE = {
    Role.RUNTIME: "install 'skyrl-doctor[runtime]' there",
    Role.TRAINER: "install 'skyrl-doctor[train]' there, or name another one as python.interpreter",
}
LOOK = "import sys, importlib.util as u; print(*[name for name in sys.argv[1:] if u.find_spec(name) is None])"
LIMIT_S = 20.0


def refuse_without_packages(role: Role, python: str = sys.executable) -> None:
    """Raises a UsageError. An interpreter that does not answer here is left to the node, which has to have it."""
    missing = _missing_here(NEEDED[role]) if python == sys.executable else _missing(python, NEEDED[role])
    if missing:
        raise UsageError(f"{python} has no {', '.join(missing)}, which the {role} runs on; {CURE[role]}")


def _missing_here(names: Sequence[str]) -> list[str]:
    return [name for name in names if find_spec(name) is None]


def _missing(python: str, names: Sequence[str]) -> list[str]:
    argv = [python, "-c", LOOK, "skyrl_train", *names]
    try:
        done = run(argv, limit_s=LIMIT_S)
    except OSError:
        return []
    return done.text.split() if done.ok else []
