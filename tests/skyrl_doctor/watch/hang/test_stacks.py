"""Stacks from py-spy's output, and from faulthandler in a real process that asked for it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.watch.hang.processes import JobProcess, of_job
from skyrl_doctor.watch.hang.stacks import Frame, Stack, parse_faulthandler, parse_py_spy, stacks_of

OPTED_IN = """
import faulthandler, os, signal, socket, sys
file = open(os.path.join(os.environ["SKYRL_STACKS_DIR"], f"stacks.{os.getpid()}"), "w")
faulthandler.register(signal.SIGUSR1, file=file, all_threads=True)
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
def score():
    print("ready", flush=True)
    return client.recv(1)
score()
"""
PLAIN = "print('ready', flush=True); input()"


@contextmanager
def running(code: str, **environ: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environ},
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def found(marks: list[str], pids: list[int] | None = None) -> list[JobProcess]:
    return of_job(LocalMachine(), marks=marks, pids=pids or [], logs=[])


def test_a_process_that_asked_for_it_is_read_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no py-spy here
    mark = f"SKYRL_JOB_DIR={tmp_path}"
    with running(OPTED_IN, SKYRL_JOB_DIR=str(tmp_path), SKYRL_STACKS_DIR=str(tmp_path), RANK="3") as process:
        (one,) = found([mark])
        assert (one.pid, one.rank, one.title) == (process.pid, "3", f"rank 3 (process {process.pid})")
        for _ in range(2):
            (stack,) = stacks_of(LocalMachine(), one)
            assert [(frame.name, frame.file) for frame in stack.frames] == [
                ("score", "<string>"),
                ("<module>", "<string>"),
            ]
        assert process.poll() is None


def test_a_process_that_did_not_ask_gets_no_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGUSR1 without a handler would end it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with running(PLAIN, SKYRL_STACKS_DIR=str(tmp_path)) as process:
        (tmp_path / f"stacks.{process.pid}").touch()
        (one,) = found([], [process.pid])
        with pytest.raises(CouldNotLook, match="py-spy is not installed"):
            stacks_of(LocalMachine(), one)
        assert process.poll() is None


def test_a_process_is_found_by_the_log_that_it_writes_with_its_children(tmp_path: Path) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    with (tmp_path / "train.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=log)
    with process:
        try:
            seen: list[JobProcess] = []
            while len(seen) < 2:
                seen = of_job(LocalMachine(), marks=[], pids=[], logs=[str(tmp_path / "train.log")])
            assert (seen[0].pid, [one.rank for one in seen]) == (process.pid, ["", ""])
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(60)


def test_the_watch_itself_and_its_shells_are_no_processes_of_the_job() -> None:
    assert os.getpid() not in {one.pid for one in found([], [os.getpid()])}


def test_a_parent_of_the_watch_is_read_only_where_it_is_named(tmp_path: Path) -> None:
    code = (
        "from skyrl_doctor.machine.local import LocalMachine as M\n"
        "from skyrl_doctor.watch.hang.processes import of_job\n"
        "import os\n"
        "for pids in ([], [os.getppid()]):\n"
        "    print(os.getppid() in {one.pid for one in of_job(M(), marks=['X_JOB=7'], pids=pids, logs=[])})\n"
    )
    environ = {**os.environ, "X_JOB": "7"}
    parent = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)"
    done = subprocess.run([sys.executable, "-c", parent, code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "False\nTrue\n"


def test_py_spy_s_output_with_the_main_thread_first() -> None:
    frames = [{"name": "wait", "filename": "/x/threading.py", "short_filename": "threading.py", "line": 3}]
    threads = [{"thread_name": "pin memory", "frames": []}, {"thread_name": "MainThread", "frames": frames}]
    assert parse_py_spy(json.dumps(threads)) == [
        Stack("MainThread", (Frame("wait", "threading.py", 3),)),
        Stack("pin memory", ()),
    ]
    for text in ("", "{}", "[1]", '[{"frames": 3, "thread_name": ""}]'):
        with pytest.raises(CouldNotLook):
            parse_py_spy(text or "x")


def test_faulthandler_s_last_thread_is_the_main_one() -> None:
    text = (
        "Thread 0x00007f0000000001 (most recent call first):\n"
        '  File "/x/a.py", line 3 in helper\n\n'
        "Current thread 0x00007f0000000002 (most recent call first):\n"
        '  File "/x/b.py", line 7 in main\n  File "/x/b.py", line ??? in <module>\n'
    )
    assert parse_faulthandler(text) == [
        Stack("MainThread", (Frame("main", "/x/b.py", 7), Frame("<module>", "/x/b.py", 0))),
        Stack("", (Frame("helper", "/x/a.py", 3),)),
    ]
