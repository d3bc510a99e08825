"""The fixtures of the podman lane. What is missing on the host skips the lane, with the reason."""

import contextlib
import itertools
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lanes.podman.lab import (
    IMAGE,
    Lab,
    User,
    engine_of_this_host,
    may_open,
    state_of,
    strays,
    wait_until,
    write_configuration,
)

SESSION = str(os.getpid())
JOB_ID = SESSION
"""A part of each store's path: in a Slurm job of this number the store is the job's own."""
LANE_USER = f"skyrl-lane-{SESSION}"
"""Two sessions at once, or two workers of one, share neither user nor store."""
_LANE_USERS = re.compile(r"skyrl-lane-(\d+)(?:-bare)?")
TOOLS = ("podman", "newuidmap", "busybox")
WORDS = ("sh", "true", "sleep", "cat", "id", "touch", "chown")
_LATER = (1, 8, 10)
"""What useradd, usermod and userdel exit with while another one holds a lock of theirs, or a process of the user is left."""
NewLab = Callable[..., Lab]


@pytest.fixture(scope="session")
def tools() -> None:
    missing = [name for name in TOOLS if shutil.which(name) is None]
    if missing:
        pytest.skip(f"the podman lane needs {', '.join(missing)} (.ci/podman-lane installs them)")


@pytest.fixture(scope="session")
def lane_user(tools: None) -> Iterator[User]:
    """An ordinary user with subordinate ids. As root one is made, and taken away again at the end."""
    made = os.getuid() == 0
    if made:
        remove_users_of_dead_sessions()
        change_users("useradd", "--create-home", "--shell", "/bin/sh", LANE_USER)
    entry = pwd.getpwnam(LANE_USER) if os.getuid() == 0 else pwd.getpwuid(os.getuid())
    if not _has_range(entry.pw_name) and os.getuid() == 0:
        give_range(entry.pw_name)
    if not _has_range(entry.pw_name):
        pytest.skip(f"the podman lane needs a range for {entry.pw_name!r} in /etc/subuid")
    yield User(entry.pw_name, entry.pw_uid, entry.pw_gid)
    if made:
        change_users("userdel", "--remove", LANE_USER)


@pytest.fixture(scope="session")
def workshop(lane_user: User) -> Iterator[Path]:
    """A short path on a local disk, which the lane's user may enter: sockets lie below it."""
    with tempfile.TemporaryDirectory(prefix="pl", dir="/tmp", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        yield Path(name)
        for pid in strays(Path(name)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda pid=pid: state_of(pid) == "")


@pytest.fixture(scope="session")
def new_lab(lane_user: User, workshop: Path) -> NewLab:
    numbers = itertools.count(1)
    containers, engine = engine_of_this_host(tun_usable=may_open(lane_user, "/dev/net/tun"))

    def make(locks: str = 'lock_type = "file"', user: User = lane_user) -> Lab:
        base = workshop / f"{JOB_ID}-{next(numbers)}"
        base.mkdir(mode=0o755)
        env = write_configuration(base, f"{engine}{locks}\n", containers=containers)
        for path in (base, *base.iterdir()):
            os.chown(path, user.uid, user.gid)
        return Lab(base, user, env)

    return make


@pytest.fixture(scope="session")
def image_archive(new_lab: NewLab, workshop: Path) -> Path:
    """An image of two layers, from busybox alone. Where a container of it does not run, the lane cannot."""
    lab = new_lab()
    context = lab.base / "image"
    (context / "bin").mkdir(parents=True)
    shutil.copy(shutil.which("busybox") or "", context / "bin" / "busybox")
    for word in WORDS:
        (context / "bin" / word).symlink_to("busybox")
    (context / "tmp").mkdir(mode=0o777)
    (context / "Containerfile").write_text("FROM scratch\nCOPY tmp /tmp\nCOPY bin /bin\n")
    try:
        for words in (("build", "-q", "-t", IMAGE, str(context)), ("save", "-q", "-o", f"{lab.base}/image.tar", IMAGE)):
            done = lab.podman(*words)
            if done.returncode:
                pytest.skip(f"podman {words[0]} does not work here: {done.stdout.strip()[-400:]}")
        done = lab.sandbox()
        if done.returncode:
            pytest.skip(f"rootless podman does not run a container here: {done.stdout.strip()[-400:]}")
        return Path(shutil.move(f"{lab.base}/image.tar", workshop / "image.tar"))
    finally:
        lab.close()


@pytest.fixture
def stocked(new_lab: NewLab, image_archive: Path) -> Iterator[NewLab]:
    """Makes stores that hold the image; they are gone after the test."""
    labs: list[Lab] = []

    def make(locks: str = 'lock_type = "file"') -> Lab:
        lab = new_lab(locks)
        labs.append(lab)
        load(lab, image_archive)
        return lab

    yield make
    for lab in labs:
        lab.close()


@pytest.fixture
def lab(stocked: NewLab) -> Lab:
    """A healthy store with one image."""
    return stocked()


def load(lab: Lab, archive: Path) -> None:
    done = lab.podman("load", "-q", "-i", str(archive))
    assert done.returncode == 0, done.stdout


def give_range(name: str) -> None:
    """A range that no other user has."""
    taken = [int(line.split(":")[1]) + int(line.split(":")[2]) for line in _lines("/etc/subuid", "/etc/subgid")]
    first = max([100_000, *taken])
    span = f"{first}-{first + 65535}"
    change_users("usermod", "--add-subuids", span, "--add-subgids", span, name)


def change_users(*command: str) -> None:
    """One of useradd and its like; each waits until it may."""

    def done() -> bool:
        return subprocess.run(command, check=False, capture_output=True).returncode not in _LATER

    wait_until(done)


def remove_users_of_dead_sessions() -> None:
    """A session that was killed took nothing away."""
    for entry in pwd.getpwall():
        match = _LANE_USERS.fullmatch(entry.pw_name)
        if match is not None and state_of(int(match[1])) == "":
            subprocess.run(["userdel", "--remove", entry.pw_name], check=False, capture_output=True)


def _has_range(name: str) -> bool:
    return any(line.split(":")[0] == name for line in _lines("/etc/subuid"))


def _lines(*paths: str) -> list[str]:
    texts = [Path(path).read_text() for path in paths if Path(path).exists()]
    return [line for text in texts for line in text.splitlines() if line.count(":") == 2]
