"""Commands with a limit, and nothing left of them."""

import threading
import time
from pathlib import Path

import pytest

from skyrl_train.contracts.errors import UsageError
from skyrl_train.sandbox.podman_cli import Done, PodmanCli


def program(directory: Path, text: str) -> PodmanCli:
    path = directory / "podman"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return PodmanCli(program=str(path))


def test_says_what_the_command_said(tmp_path: Path) -> None:
    cli = program(tmp_path, 'echo "out $*"; echo err >&2; exit 3')
    done = cli.run("image", "exists", "a b", limit_s=60)
    assert done == Done(rc=3, out="out image exists a b\n", err="err\n")
    assert (done.ok, done.said) == (False, "err")


def test_no_podman_is_the_users_to_mend() -> None:
    with pytest.raises(UsageError, match="podman is not installed here"):
        PodmanCli(program="/nowhere/podman").run("ps", limit_s=1)


def test_ends_at_its_limit_with_all_that_it_started(tmp_path: Path) -> None:
    cli = program(tmp_path, f"sleep 600 & echo $! >{tmp_path}/pid; wait")
    began = time.monotonic()
    done = cli.run("pull", limit_s=1.5)
    assert (done.rc, done.why) == (None, "no end within 1.5 s")
    assert time.monotonic() - began < 300
    child = int((tmp_path / "pid").read_text())
    while alive(child):  # a killed process is there until the kernel has taken it away
        assert time.monotonic() - began < 400


def test_ends_all_that_runs(tmp_path: Path) -> None:
    cli = program(tmp_path, f"touch {tmp_path}/begun; sleep 600")
    found: list[Done] = []
    thread = threading.Thread(target=lambda: found.append(cli.run("pull", limit_s=600)))
    thread.start()
    while not (tmp_path / "begun").exists():
        threading.Event().wait(0.005)
    cli.end_all()
    thread.join(120)
    assert [done.rc for done in found] == [None]
    assert cli.run("pull", limit_s=1) == Done(rc=None, why="ended before it began")


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
