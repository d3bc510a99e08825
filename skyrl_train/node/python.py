"""Chooses the training interpreter and passes it on to every worker.

Triton compiles with the headers of a worker's interpreter, and Ray starts workers under the driver's interpreter. So one
interpreter is chosen once and named by its full path.
"""

import os
import re
from collections.abc import Mapping

from skyrl_train.contracts.record import record
from skyrl_train.node.settings import Preparation, Setting

VARIABLE = "UV_PYTHON"
NO_COMPILER = "Failed to find C compiler. Please specify via CC environment variable"
"""The start of Triton's message when it finds no compiler."""

_VERSION = re.compile(r"(?:cpython|python|cp)?[@-]?3(?:\.?(?P<minor>\d{1,2})(?:\.\d+)?)?(?P<threads>t)?(?:-[\w-]+)?")
_NAME = re.compile(r"[\w.+-]+")


@record(kw_only=True)
class Candidate:
    """A text that may name the interpreter. `explicit`: the user wrote it, so it counts even if the file does not exist."""

    text: str
    source: str
    explicit: bool = True


def candidates(configured: str | None, environ: Mapping[str, str], *, cwd: str, own: str) -> tuple[Candidate, ...]:
    """Candidates from the configuration, $UV_PYTHON, the active environment, the project and the caller, in this order."""
    found: list[Candidate] = []
    if configured and configured.strip():
        found.append(Candidate(text=configured.strip(), source="python.interpreter"))
    if environ.get(VARIABLE, "").strip():
        found.append(Candidate(text=environ[VARIABLE].strip(), source=VARIABLE))
    if environ.get("VIRTUAL_ENV", "").strip():
        active = os.path.join(environ["VIRTUAL_ENV"].strip(), "bin", "python")
        found.append(Candidate(text=active, source="VIRTUAL_ENV"))
    found.append(
        Candidate(text=os.path.join(cwd, ".venv", "bin", "python"), source="the project's .venv", explicit=False)
    )
    found.append(Candidate(text=own, source="the doctor's own interpreter"))
    return tuple(found)


def is_path(text: str) -> bool:
    """Whether a text is a path. Otherwise it is a request such as 3.12, which must be resolved."""
    return "/" in text


def commands(request: str) -> tuple[str, ...]:
    """The commands on PATH that satisfy a request; none if only uv can resolve it (`>=3.12,<3.13`, pypy)."""
    version = _VERSION.fullmatch(request)
    if version is not None:
        minor, threads = version["minor"], version["threads"] or ""
        return (f"python3.{minor}{threads}",) if minor else (f"python3{threads}",)
    if _NAME.fullmatch(request) and not request.startswith(("-", "pypy", "pp", "graalpy", "gp")):
        return (request,)
    return ()


def interpreter_settings(interpreter: str, environ: Mapping[str, str]) -> Preparation:
    """The setting that names the interpreter for uv and for workers; empty unless it is a full path."""
    if not os.path.isabs(interpreter) or environ.get(VARIABLE) == interpreter:
        return Preparation()
    why = "every worker compiles with this interpreter's headers"
    return Preparation(settings=(Setting(name=VARIABLE, value=interpreter, cures="ENV001", why=why),))  # FIX(ENV001)
