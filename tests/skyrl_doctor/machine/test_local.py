"""This machine, asked for files."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skyrl_doctor.machine.base import Absent, Unreadable, unless_absent
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.queries import Space


@pytest.fixture
def machine() -> LocalMachine:
    return LocalMachine()


def test_reads_text_bytes_and_a_span(machine: LocalMachine, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"abc\xff\n")
    assert machine.read(str(file)) == "abc\ufffd\n"
    assert machine.read_bytes(str(file)) == b"abc\xff\n"
    assert machine.read_bytes(str(file), offset=1, limit_bytes=2) == b"bc"


def test_nothing_there_is_absent_and_a_file_as_directory_too(machine: LocalMachine, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "none", tmp_path / "file" / "below"):
        with pytest.raises(Absent, match="no such file or directory"):
            machine.read(str(path))
    assert unless_absent(lambda: machine.read(str(tmp_path / "none"))) is None


def test_a_fifo_in_place_of_a_file_does_not_hold(machine: LocalMachine, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Unreadable, match="is a fifo, not a file"):
        machine.read(str(tmp_path / "pipe"))
    with pytest.raises(Unreadable, match="Is a directory"):
        machine.read(str(tmp_path))


def test_strange_paths_are_unreadable_not_a_crash(machine: LocalMachine) -> None:
    with pytest.raises(Unreadable, match="embedded null byte"):
        machine.read("/etc/\0")
    with pytest.raises(Unreadable, match="File name too long"):
        machine.stat("/" + "x" * 5000)


def test_stat_lists_and_links(machine: LocalMachine, tmp_path: Path) -> None:
    (tmp_path / "b").write_text("12", encoding="utf-8")
    (tmp_path / "a").symlink_to("b")
    assert machine.listdir(str(tmp_path)) == ("a", "b")
    assert machine.readlink(str(tmp_path / "a")) == "b"
    assert (machine.stat(str(tmp_path / "a")).kind, machine.stat(str(tmp_path / "a"), follow=False).kind) == (
        "file",
        "link",
    )
    assert machine.stat(str(tmp_path / "b")).size == 2
    assert machine.stat("/dev/null").kind == "char"


def test_space_is_of_the_file_system(machine: LocalMachine, tmp_path: Path) -> None:
    space = machine.space(str(tmp_path))
    assert isinstance(space, Space)
    assert space.total_bytes >= space.free_bytes > 0


def test_names_the_holder_of_a_lock_and_takes_none(machine: LocalMachine, tmp_path: Path) -> None:
    file = tmp_path / "lock"
    file.touch()
    assert machine.lock_holder(str(file)) is None
    program = "import fcntl,sys; f=open(sys.argv[1],'w'); fcntl.lockf(f, fcntl.LOCK_EX); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == b"held\n"
        assert machine.lock_holder(str(file)) == holder.pid
        holder.stdin.close()
    with file.open("w", encoding="utf-8") as mine:
        fcntl.lockf(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert machine.lock_holder(str(file)) is None


def test_which_uses_the_machines_own_path(tmp_path: Path) -> None:
    tool = tmp_path / "podman"
    tool.write_text("#!/bin/sh\n", encoding="utf-8")
    tool.chmod(0o755)
    assert LocalMachine({"PATH": str(tmp_path)}).which("podman") == str(tool)
    assert LocalMachine({"PATH": "/nowhere"}).which("podman") is None


def test_knows_itself(machine: LocalMachine) -> None:
    identity = machine.identity()
    assert (identity.pid, identity.uid, identity.python) == (os.getpid(), os.getuid(), sys.executable)
    assert machine.now() > 1.7e9


def test_a_working_directory_that_is_gone_is_said_so(
    machine: LocalMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(Unreadable, match=r"^the working directory: it exists no more$"):
        machine.identity()
    monkeypatch.chdir(tmp_path)
