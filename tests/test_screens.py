"""All that the commands print goes through skyrl_train.contracts.screen."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OTHER_PROGRAMS = (
    "skyrl_doctor/children/",  # their parent reads what they print
    "skyrl_train/agent/inside/",
    "skyrl_train/rewards/inside/",
    "skyrl_train/sandbox/sandboxd/",
    "skyrl_train/sandbox/client/canary.py",
    "skyrl_train/rl/merge_child.py",
    "skyrl_train/rl/score_child.py",
)
THE_SCREEN = ("skyrl_train/contracts/screen.py", "skyrl_train/contracts/streams.py")
COLOURED = ("skyrl_doctor/report/terminal.py", "skyrl_doctor/report/progress.py")
"""They take the stream itself and make their text plain first."""
ESCAPE = "\x1b]0;owned\x07\x9b2J\u202e"


def ways_around(tree: ast.AST) -> Iterator[str]:
    """Prints that a guarded stream does not see, and lines that a name could add to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.__stdout__", "sys.__stderr__"):
            yield f"{node.lineno}: {ast.unparse(node)}"
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if called in ("print", "sys.stdout.buffer.write", "sys.stderr.buffer.write", "unguarded"):
            yield f"{node.lineno}: {called}"
        if called == "os.write" and ast.unparse(node.args[0]) in ("1", "2"):
            yield f"{node.lineno}: {called}"
        if called in ("sys.stdout.write", "sys.stderr.write") and isinstance(node.args[0], ast.JoinedStr):
            yield f"{node.lineno}: a line without print_line"
        if called in ("sys.stdout.write", "sys.stderr.write") and ast.unparse(node.args[0]).startswith("''.join("):
            yield f"{node.lineno}: lines without print_lines"


def test_no_print_goes_around_the_screen() -> None:
    found = [
        f"{name}:{way}"
        for package in ("skyrl_doctor", "skyrl_train", "checks")
        for path in sorted((ROOT / package).rglob("*.py"))
        if not (name := path.relative_to(ROOT).as_posix()).startswith(OTHER_PROGRAMS) and name not in THE_SCREEN
        for way in ways_around(ast.parse(path.read_text(encoding="utf-8")))
        if not (name in COLOURED and way.endswith("unguarded"))
        and not (name in ("skyrl_doctor/__main__.py", "skyrl_doctor/docs/__main__.py") and "print_line" in way)
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "print(name)",
        "sys.__stderr__.write(name)",
        "sys.stdout.buffer.write(name)",
        "os.write(2, name)",
        'sys.stderr.write(f"no such file: {name}\\n")',
        'sys.stdout.write("".join(f"{line}\\n" for line in lines))',
        "unguarded(sys.stdout).write(name)",
    ],
)
def test_each_way_around_is_found(source: str) -> None:
    assert len(list(ways_around(ast.parse(source)))) == 1


def doctor(*words: str, module: str = "skyrl_doctor", cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        capture_output=True,
        timeout=300,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
    )
    return (done.stdout + done.stderr).decode()


@pytest.mark.parametrize(
    "words",
    [
        ("preflight", "no-such-{}.toml"),
        ("budget", "no-such-{}.toml"),
        ("budget", "run-{}.toml", "--gpu-memory", "20GiB"),
        ("budget", "keys.toml", "--gpu-memory", "20GiB"),
        ("diagnose", "no-such-{}"),
        ("diagnose", "log-{}"),
        ("diagnose", "log-{}", "--format", "json"),
        ("explain", "{}"),
        ("preflight", "--from", "{}"),
        ("preflight", "keys.toml", "--structure-only"),
        ("preflight", "--select", "{}"),
        ("watch", "no-such-{}"),
        ("fix", "no-such-{}.toml"),
        ("{}",),
    ],
    ids=" ".join,
)
def test_a_name_from_outside_controls_no_terminal(words: tuple[str, ...], tmp_path: Path) -> None:
    name = f"{ESCAPE}x"
    (tmp_path / f"run-{name}.toml").write_text(
        f'[model]\npath = "/models/{ESCAPE.encode("unicode_escape").decode()}"\n'.replace("\\x", "\\u00")
    )
    (tmp_path / "keys.toml").write_text('[model]\n"a\\u001b[2J\\u009b\\nverdict: pass" = 1\n')
    (tmp_path / f"log-{name}").write_text(f"Traceback (most recent call last):\nValueError: {ESCAPE}\n")
    printed = doctor(*(word.format(name) for word in words), cwd=tmp_path)
    assert [char for char in printed if char in ESCAPE and not char.isprintable()] == []
    assert "\nverdict: pass" not in printed.replace("\\nverdict", "")


@pytest.mark.parametrize(
    "words",
    [("status", "{}"), ("show", "{}"), ("checkpoints", "list", "{}"), ("data", "inspect", "{}"), ("launch", "{}")],
    ids=" ".join,
)
def test_nor_does_the_trainer(words: tuple[str, ...], tmp_path: Path) -> None:
    printed = doctor(*(word.format(f"no{ESCAPE}") for word in words), module="skyrl_train", cwd=tmp_path)
    assert printed
    assert [char for char in printed if char in ESCAPE and not char.isprintable()] == []
