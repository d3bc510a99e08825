"""Who imports what: the command line starts light, and the contracts of pyproject.toml hold."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEAVY = ("torch", "ray", "verl", "vllm", "transformers", "numpy", "rich", "pydantic")

IMPORT_ALL = f"""
import importlib, json, os, pkgutil, sys, threading
before = (dict(os.environ), os.getcwd(), os.umask(0o077))
names = ["skyrl_doctor.__main__", "skyrl_doctor.cli.app"]
for top in ("skyrl_doctor", "checks"):
    package = importlib.import_module(top)
    walked = pkgutil.walk_packages(package.__path__, prefix=top + ".", onerror=lambda name: None)
    # What lies in children/ are programs for the training interpreter, run as files and never imported.
    names += [found.name for found in walked if not found.name.startswith("skyrl_doctor.children.")]
for name in names:
    importlib.import_module(name)
after = (dict(os.environ), os.getcwd(), os.umask(0o077))
roots = {{name.partition(".")[0] for name in sys.modules}}
print(json.dumps({{
    "names": names,
    "heavy": sorted(roots & set({HEAVY!r})),
    "same": before[:2] == after[:2] and after[2] == 0o077,
    "threads": threading.active_count(),
}}))
"""


def imported() -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT_ALL],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()  # importing a module prints nothing
    found: dict[str, object] = json.loads(line)
    return found


def test_importing_everything_loads_nothing_heavy_and_does_nothing() -> None:
    found = imported()
    names = found.pop("names")
    assert isinstance(names, list)
    assert {"skyrl_doctor.cli.preflight", "skyrl_doctor.probes.environ", "checks.env.stale_vllm_variable"} <= set(names)
    assert found == {"heavy": [], "same": True, "threads": 1}


def test_the_command_line_imports_only_the_command_that_was_asked_for() -> None:
    code = (
        "import sys; from skyrl_doctor.cli.app import SKYRL_DOCTOR; from skyrl_train.cli.frame import parser; parser(SKYRL_DOCTOR, 'preflight')\n"
        "print(sorted(n for n in sys.modules if n.startswith(('skyrl_doctor.', 'checks', 'skyrl_train'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(json.loads(done.stdout.replace("'", '"')))
    assert loaded == {
        "skyrl_doctor.cli",
        "skyrl_doctor.cli.app",
        "skyrl_doctor.cli.options",
        "skyrl_doctor.cli.preflight",
        "skyrl_doctor.core",
        "skyrl_doctor.core.errors",
        "skyrl_doctor.report",
        "skyrl_doctor.report.formats",
        "skyrl_train",
        "skyrl_train.cli",
        "skyrl_train.cli.frame",
        "skyrl_train.version",
    }


def test_the_import_contracts_hold() -> None:
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-cache"], capture_output=True, text=True, timeout=300, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
