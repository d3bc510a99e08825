"""Two users made for attacks on each other and on root, and a directory for everybody."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class User:
    uid: int

    def run(self, script: str) -> None:
        subprocess.run(["sh", "-ec", script], user=self.uid, group=self.uid, extra_groups=[], check=True, timeout=30)

    def start(self, *words: str, **environ: str) -> "subprocess.Popen[bytes]":
        env = {"PATH": os.defpath, **environ}
        return subprocess.Popen(words, user=self.uid, group=self.uid, extra_groups=[], env=env, start_new_session=True)


def made_user(name: str) -> Iterator[User]:
    subprocess.run(["useradd", "--no-create-home", "--user-group", name], check=True, timeout=60)
    uid = int(subprocess.run(["id", "-u", name], capture_output=True, text=True, check=True).stdout)
    try:
        yield User(uid)
    finally:
        subprocess.run(["userdel", name], check=False, timeout=60, capture_output=True)


@pytest.fixture(scope="module")
def attacker() -> Iterator[User]:
    yield from made_user(f"sd-attacks-{os.getpid()}")


@pytest.fixture(scope="module")
def victim() -> Iterator[User]:
    yield from made_user(f"sd-suffers-{os.getpid()}")


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Path]:
    """A scratch directory for everybody, as /tmp, whose parents all may enter."""
    made = Path("/tmp", f"sd-attacks-{os.getpid()}-{tmp_path.name}")
    made.mkdir()
    made.chmod(0o1777)
    yield made
    for line in reversed(Path("/proc/self/mountinfo").read_text().splitlines()):
        if line.split(" ")[4].startswith(f"{made}/"):
            subprocess.run(["umount", "-l", line.split(" ")[4]], check=False)
    shutil.rmtree(made, ignore_errors=True)
