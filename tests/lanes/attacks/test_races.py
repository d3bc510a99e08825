"""Another user swaps a file, or its directory, for a link all the while that root writes there: no write may reach the victim."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lanes.attacks.users import User, attacker, base
from lanes.podman.lab import wait_until
from skyrl_doctor.cli.edits import write
from skyrl_doctor.cli.session import write_report
from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.recorded import Recorder
from skyrl_doctor.plan.edits.proposal import Proposal
from skyrl_train.contracts import files

__all__ = ["attacker", "base"]
pytestmark = [
    pytest.mark.attacks,
    pytest.mark.skipif(os.getuid() != 0 or not shutil.which("useradd"), reason="needs root, to make two users"),
]
OLD, NEW, PRECIOUS = "old = 1\n", "new = 1\n", "precious = 1\n"
TRIES = 5000
SWAP = """
import ctypes, os, sys
kind, path, victim = sys.argv[1:]
exchange = lambda: ctypes.CDLL(None).renameat2(-100, path.encode(), -100, (path + ".link").encode(), 2)
def file(at):
    if kind == "fifo": os.mkfifo(at + ".new")
    else:
        with open(at + ".new", "w") as out: out.write("old = 1\\n")
    os.rename(at + ".new", at)
if kind == "directory":
    os.mkdir(path)
    file(path + "/x")
    os.symlink(victim, path + ".link")
while True:
    if kind == "directory":
        exchange()
        file(path + ".link/x")
        exchange()
        continue
    file(path)
    os.symlink(victim, path + ".link")
    os.rename(path + ".link", path)
"""
Write = Callable[[Path], object]
WRITERS: dict[str, Write] = {
    "fix --apply": lambda path: write(Proposal(file=str(path), old=OLD, new=NEW)),
    "a file written whole": lambda path: files.write_whole(str(path), NEW, durable=False),
    "a report": lambda path: write_report(str(path), NEW),
    "a recording": lambda path: Recorder(LocalMachine({})).write(str(path.parent), about={}),
}


@pytest.fixture
def precious(base: Path) -> Iterator[Path]:
    """A directory of root's, with a file of the name that is attacked."""
    place = base / "precious"
    place.mkdir()
    for name in ("x", "machine.json", "about.toml"):
        (place / name).write_text(PRECIOUS)
    yield place
    assert {path.read_text() for path in place.iterdir()} == {PRECIOUS}, "the victim's file was changed"
    assert sorted(os.listdir(place)) == ["about.toml", "machine.json", "x"], "a file was made at the victim's"


def swapping(attacker: User, kind: str, path: Path, victim: Path) -> "subprocess.Popen[bytes]":
    script = path.parent / "swap.py" if kind == "directory" else path.parent.parent / "swap.py"
    script.write_text(SWAP)
    child = attacker.start("/usr/bin/python3", str(script), kind, str(path), str(victim), OUT=str(script))
    wait_until(lambda: path.is_symlink())
    return child


def tried(write_to: Write, path: Path) -> None:
    """Some of the writes are refused."""
    for _ in range(TRIES):
        with contextlib.suppress(OSError, UsageError):
            write_to(path)


@pytest.mark.parametrize(("kind", "name"), [*(("file", name) for name in WRITERS), ("fifo", "a report")])
def test_a_file_swapped_for_a_link(base: Path, precious: Path, attacker: User, kind: str, name: str) -> None:
    place = base / "shared"
    place.mkdir()
    place.chmod(0o777)
    child = swapping(attacker, kind, place / "x", precious / "x")
    try:
        tried(WRITERS[name], place / "x")
    finally:
        child.kill()
        child.wait()


def test_a_link_that_appears_after_its_owner_was_asked(base: Path, precious: Path, attacker: User) -> None:
    """Each step alone, so that the attacker has every chance: with two calls for one link 79 of 84,610 followed it."""
    place = base / "shared"
    place.mkdir()
    place.chmod(0o777)
    child = swapping(attacker, "file", place / "x", precious / "x")
    found = set()
    try:
        for _ in range(10 * TRIES):
            with contextlib.suppress(OSError):
                found.add(files.target_of_own_link(str(place / "x")))
    finally:
        child.kill()
        child.wait()
    assert found == {str(place / "x")}


def test_a_directory_swapped_for_a_link(base: Path, precious: Path, attacker: User) -> None:
    """What names a directory of another user may write there, but not what was read elsewhere."""
    shared = base / "open"
    shared.mkdir()
    shared.chmod(0o777)
    child = swapping(attacker, "directory", shared / "d", precious)
    try:
        tried(WRITERS["fix --apply"], shared / "d" / "x")
    finally:
        child.kill()
        child.wait()
