"""Who starts processes, who signals groups, and who parses /proc/PID/stat: the modules listed here, and no others."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUNNERS = {
    "skyrl_doctor/machine/process.py": "the doctor's runner",
    "skyrl_doctor/children/archive_index.py": "a program of its own in another interpreter: unpacks with zstd",
    "skyrl_doctor/children/archive_paths.py": "a program of its own in another interpreter: unpacks with zstd",
    "skyrl_doctor/children/triton_build.py": "a program of its own in another interpreter: runs the compiler",
    "skyrl_train/process.py": "the trainer's runner",
    "skyrl_train/process_async.py": "the trainer's runner for coroutines",
    "skyrl_train/sandbox/sandboxd/children.py": "runs in a sandbox with the standard library alone",
    "skyrl_train/agent/inside/processes.py": "runs in a sandbox with the standard library alone",
}
PARSERS = {
    "skyrl_train/contracts/proc_stat.py": "the one parser of both sides",
    "skyrl_train/sandbox/sandboxd/limit_enforcer.py": "runs in a sandbox with the standard library alone",
    "skyrl_train/agent/inside/processes.py": "runs in a sandbox with the standard library alone",
}
STARTS = {
    "subprocess": {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "os": {"killpg", "system", "popen", "posix_spawn", "posix_spawnp", "spawnv", "spawnve"},
}
SPLITS = {"rpartition", "rsplit", "rindex", "rfind"}


@cache
def modules() -> dict[str, ast.Module]:
    paths = [path for top in ("skyrl_doctor", "skyrl_train", "checks") for path in (ROOT / top).rglob("*.py")]
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def uses(tree: ast.Module) -> set[str]:
    """The functions that start or signal, as `subprocess.run`; a mention in an annotation is no use."""
    annotations = {
        id(inner)
        for node in ast.walk(tree)
        for note in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if note is not None
        for inner in ast.walk(note)
    }
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and id(node) not in annotations:
            if node.attr in STARTS.get(node.value.id, ()):
                found.add(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.ImportFrom) and node.module in STARTS:
            found |= {f"{node.module}.{name.name}" for name in node.names if name.name in STARTS[node.module]}
    return found


def parses_stat(tree: ast.Module) -> bool:
    """Whether it names a file /proc/…/stat and cuts something at its last parenthesis."""
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    cuts = any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in SPLITS
        and any(isinstance(word, ast.Constant) and word.value in (")", b")") for word in node.args)
        for node in ast.walk(tree)
    )
    return cuts and any(text.endswith("/stat") or "/proc/PID/stat" in text for text in texts)


def test_only_the_runners_start_processes_and_signal_groups() -> None:
    found = {name for name, tree in modules().items() if uses(tree)}
    assert found == set(RUNNERS)


def test_only_one_module_a_side_parses_stat() -> None:
    found = {name for name, tree in modules().items() if parses_stat(tree)}
    assert found == set(PARSERS)


def test_each_way_to_start_or_to_signal_is_seen() -> None:
    text = (
        "import asyncio, os, subprocess\nfrom subprocess import Popen\n"
        "def f(child: subprocess.Popen[bytes]) -> subprocess.Popen[str]:\n"
        "    send = os.killpg if child else os.kill\n"
        "    return asyncio.create_subprocess_exec('true')\n"
    )
    assert uses(ast.parse(text)) == {"subprocess.Popen", "os.killpg", "asyncio.create_subprocess_exec"}
    assert uses(ast.parse("import subprocess\nx: subprocess.Popen[bytes] | None = None")) == set()
    assert parses_stat(ast.parse("open(f'/proc/{pid}/stat').read().rpartition(')')"))
    assert not parses_stat(ast.parse("read(f'/proc/{pid}/stat')"))
