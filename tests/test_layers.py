"""Who imports what: the command line starts light, and the contracts of pyproject.toml hold."""

import ast
import json
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEAVY = ("torch", "ray", "verl", "vllm", "transformers", "numpy", "rich", "textual", "pydantic")

IMPORT_ALL = f"""
import importlib, json, os, pkgutil, sys, threading
before = (dict(os.environ), os.getcwd(), os.umask(0o077))
names = ["skyrl_doctor.__main__", "skyrl_doctor.cli.app"]
for top in ("skyrl_doctor", "checks"):
    package = importlib.import_module(top)
    walked = pkgutil.walk_packages(package.__path__, prefix=top + ".", onerror=lambda name: None)
    # What lies in children/ are programs for the training interpreter, run as files and never imported.
    # docs and reference write our own pages when they are built. The live view derives from Textual's classes; only --tui imports it.
    names += [
        found.name for found in walked
        if not found.name.startswith("skyrl_doctor.children.") and not found.name.startswith("skyrl_doctor.docs") and found.name not in ("skyrl_doctor.watch.tui.app", "skyrl_doctor.reference")
    ]
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
        timeout=300,
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
    assert {"skyrl_doctor.cli.preflight", "skyrl_doctor.facts.environ", "checks.env.stale_vllm_variable"} <= set(names)
    assert found == {"heavy": [], "same": True, "threads": 1}


def test_the_command_line_imports_only_the_command_that_was_asked_for() -> None:
    code = (
        "import sys; from skyrl_doctor.cli.app import SKYRL_DOCTOR; from skyrl_train.contracts.command_line import parser; parser(SKYRL_DOCTOR, 'preflight')\n"
        "print(sorted(n for n in sys.modules if n.startswith(('skyrl_doctor.', 'checks', 'skyrl_train'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    loaded = set(json.loads(done.stdout.replace("'", '"')))
    assert loaded == {
        "skyrl_doctor.cli",
        "skyrl_doctor.cli.app",
        "skyrl_doctor.cli.examples",
        "skyrl_doctor.cli.options",
        "skyrl_doctor.cli.preflight",
        "skyrl_doctor.core",
        "skyrl_doctor.core.errors",
        "skyrl_doctor.report",
        "skyrl_doctor.report.formats",
        "skyrl_train",
        "skyrl_train.contracts",
        "skyrl_train.contracts.command_line",
        "skyrl_train.contracts.help",
        "skyrl_train.contracts.printable",
        "skyrl_train.contracts.screen",
        "skyrl_train.contracts.version",
    }


PREFLIGHT = """
import io, json, sys
from skyrl_doctor.cli.app import dispatch
report, sys.stdout = sys.stdout, io.StringIO()
dispatch(["preflight", "--role", "gpu", "--format", "json"])
compiled = [
    f"{module.__name__}.{name}"
    for module in list(sys.modules.values()) if module.__name__.partition(".")[0] in ("skyrl_doctor", "checks", "skyrl_train")
    for name, kind in vars(module).items()
    if isinstance(kind, type) and kind.__module__ == module.__name__ and "__dataclass_fields__" in vars(kind)
    and getattr(vars(kind).get("__init__"), "__module__", "") != "skyrl_train.contracts.record"
]
json.dump({"loaded": sorted(sys.modules), "compiled": sorted(compiled)}, report)
"""
NOT_WAITED_FOR = frozenset({
    "asyncio", "concurrent.futures", "csv", "ctypes", "decimal", "difflib", "email", "hashlib", "hmac", "http", "http.client",
    "importlib.metadata", "logging", "multiprocessing", "nvidia", "packaging", "pathlib", "pickle", "platform",
    "pydantic", "pynvml", "random", "rich", "secrets", "socket", "sqlite3", "ssl", "statistics", "tempfile", "tree_sitter",
    "unittest", "urllib.request", "uuid", "xml", "yaml", "zipfile",
})  # fmt: skip
"""Each is ten milliseconds or a tenth of them; together they were a third of a start."""
COMPILED = [
    "skyrl_doctor.facts.gpu.nvidia_smi._Listed",
    "skyrl_train.contracts.agent.calls.Call",
    "skyrl_train.contracts.agent.calls.CallError",
    "skyrl_train.contracts.agent.calls.Span",
    "skyrl_train.contracts.rewards.suite_run.SuiteRun",
    "skyrl_train.contracts.rewards.score.Scored",
    "skyrl_train.contracts.rewards.score.Unscorable",
    "skyrl_train.contracts.sandbox.wire.Session",
    "skyrl_train.contracts.tasks.rows.BadRow",
    "skyrl_train.contracts.tasks.rows.TaskRow",
]
"""Filled in step by step, made by the million, or sent between processes: there they are worth a compile, and all others
are records (adr 0008)."""


def test_a_preflight_of_a_node_loads_no_more_than_it_needs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PREFLIGHT],
        env={"HOME": str(tmp_path), "PATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found = json.loads(done.stdout)
    assert {"checks.gpu.mig_uuid", "skyrl_doctor.facts.gpu.probe", "skyrl_train.node.mig"} <= set(found["loaded"])
    assert NOT_WAITED_FOR & set(found["loaded"]) == set()
    assert sorted(set(found["compiled"]) - set(COMPILED)) == []


def test_the_import_contracts_hold() -> None:
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-cache"], capture_output=True, text=True, timeout=300, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def imports_of(path: Path, modules: Mapping[str, Path]) -> set[str]:
    """The modules of ours that a file imports, anywhere in it: at its head, in a function, or for types alone."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {name if (name := f"{node.module}.{each.name}") in modules else node.module for each in node.names}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return found & modules.keys()


def test_no_file_imports_itself_through_others() -> None:
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for top in ("checks", "skyrl_doctor", "skyrl_train")
        for path in (ROOT / top).rglob("*.py")
    }
    graph = {name: imports_of(path, modules) - {name} for name, path in modules.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_the_contract_of_the_door_names_every_other_part_of_the_trainer() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    door = next(one for one in settings["contracts"] if "only the four pure packages" in one["name"])
    parts = {
        path.stem
        for path in (ROOT / "skyrl_train").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    others = parts - {"__init__", "config", "contracts", "memory", "node"}
    assert set(door["forbidden_modules"]) == {f"skyrl_train.{name}" for name in others}
    assert [one["name"] for one in settings["contracts"] if "ignore_imports" in one] == []


def test_checks_import_the_memory_model_as_a_package() -> None:
    """Probes import it in threads of their own. A thread that begins with a module inside it gets a half-imported one."""
    inside = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "checks").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        and node.col_offset
        and (node.module or "").startswith("skyrl_train.memory.")
    ]
    assert inside == []
