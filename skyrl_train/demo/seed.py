"""Writes a task like an R2E-Gym image: the repository in /testbed, its hidden tests in /r2e_tests."""

import contextlib
import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from skyrl_train.demo.task import DemoTask
from skyrl_train.process import run

RUN_TESTS_SH = (
    "PYTHONWARNINGS='ignore::UserWarning,ignore::SyntaxWarning' .venv/bin/python -W ignore -m pytest -rA r2e_tests\n"
)
"""R2E-Gym's command."""
_PYTHON = """\
#!/bin/sh
export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
exec {python} "$@"
"""
# the pytest plugins of this interpreter do not belong to the task
_GIT_S = 20.0
_WHO = ("-c", "user.name=demo", "-c", "user.email=demo@example.org", "-c", "commit.gpgsign=false")
_WHEN = "2026-01-01T00:00:00+00:00"


def write_seed(task: DemoTask, root: Path, *, python: str) -> Path:
    """Writes the root directory of a sandbox. `python` is the Python with pytest in it."""
    repository = root / "testbed"
    _write(repository, task.files)
    _write(root / "r2e_tests", task.tests)
    _write(repository, {"run_tests.sh": RUN_TESTS_SH})
    environment = repository / ".venv" / "bin"
    environment.mkdir(parents=True)
    (environment / "python").write_text(_PYTHON.format(python=shlex.quote(python)), encoding="utf-8")
    (environment / "python").chmod(0o755)
    _commit(repository)
    return root


def _write(directory: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _commit(repository: Path) -> None:
    """Makes a commit, so that `git diff` works. Does nothing if git is not installed."""
    git = shutil.which("git")
    if git is None:
        return
    environ = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    environ |= {"GIT_AUTHOR_DATE": _WHEN, "GIT_COMMITTER_DATE": _WHEN}
    steps = (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "As it was"))
    with contextlib.suppress(OSError):
        for number, step in enumerate(steps):
            if not run([git, *_WHO, *step], limit_s=_GIT_S, cwd=repository, env=environ).ok:
                return
            if number == 0:
                (repository / ".git" / "info" / "exclude").write_text(
                    ".venv\nrun_tests.sh\nr2e_tests\n", encoding="utf-8"
                )
