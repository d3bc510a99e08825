"""sandboxd before another server: statuses, signals, orphans."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skyrl_train.sandbox.sandboxd.bundle import write_zipapp

SYSTEM_PYTHON = "/usr/bin/python3"


@pytest.fixture(scope="module")
def argv(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return [sys.executable, "-I", "-S", str(write_zipapp(tmp_path_factory.mktemp("sandboxd")))]


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137), ("(sleep 0.1 &) ; exit 4", 4)]
)
def test_it_ends_as_the_server_ends(argv: list[str], script: str, code: int) -> None:
    done = subprocess.run([*argv, "--run", "--", "sh", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, f"sandboxd: sh exited with status {code}\n")


def test_it_passes_on_what_it_is_asked(argv: list[str], tmp_path: Path) -> None:
    flag = tmp_path / "up"
    script = f"trap 'exit 7' TERM; : > {flag}; while :; do sleep 0.02; done"
    process = subprocess.Popen([*argv, "--run", "--", "sh", "-c", script], stderr=subprocess.DEVNULL)
    end = time.monotonic() + 300
    while not flag.exists() and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(300) == 7


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--run",), 2, "--run needs `-- COMMAND…` after it"),
        (("--run", "--"), 2, "--run needs `-- COMMAND…` after it"),
        (("--run", "--", "/nowhere/server"), 127, "/nowhere/server cannot be run: No such file or directory"),
        (("--run", "--", "/"), 126, "/ cannot be run: Permission denied"),
    ],
)
def test_what_cannot_be_run_says_so(argv: list[str], words: tuple[str, ...], code: int, said: str) -> None:
    done = subprocess.run([*argv, *words], capture_output=True, text=True, check=False, encoding="utf-8")
    assert (done.returncode, done.stderr.splitlines()[0]) == (code, f"sandboxd: {said}")


@pytest.mark.skipif(
    os.getuid() != 0 or not os.path.exists(SYSTEM_PYTHON), reason="needs root and a Python for all users"
)
def test_no_process_of_the_same_user_may_trace_it(tmp_path: Path) -> None:
    """What may not be traced belongs to root in /proc, whoever runs it."""
    archive = write_zipapp(tmp_path / "archive")
    tmp_path.chmod(0o755)
    for path in (archive, *archive.parents):
        if str(path).startswith("/tmp/pytest"):
            path.chmod(0o755)
    words = [
        SYSTEM_PYTHON,
        "-I",
        "-S",
        "-B",
        str(archive),
        "--run",
        "--",
        "sh",
        "-c",
        "stat -c %u /proc/$PPID/environ",
    ]
    done = subprocess.run(words, user=65534, group=65534, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "0\n", done.stderr
