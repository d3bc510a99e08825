"""The demonstration in real containers, which are gone afterwards, and what it does where Podman does not work."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from lanes.podman.lab import User, engine_of_this_host, may_open, write_configuration

pytestmark = pytest.mark.podman


@pytest.fixture
def env(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A store of this user's own, and this interpreter. A root's Podman leaves its store mounted onto itself."""
    me = User("me", os.getuid(), os.getgid())
    containers, engine = engine_of_this_host(tun_usable=may_open(me, "/dev/net/tun"))
    made = write_configuration(tmp_path, engine, containers=containers)
    with (tmp_path / "storage.conf").open("a") as conf:  # which a root's Podman insists on
        conf.write(f'runroot = "{tmp_path}/run"\n')
    (tmp_path / "tmp").mkdir()
    yield {**made, "TMPDIR": str(tmp_path / "tmp"), "PYTHONPATH": os.pathsep.join(sys.path)}
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for mount in (mount for mount in reversed(mounts) if mount.startswith(f"{tmp_path}/")):
        subprocess.run(["umount", mount], check=True)


def ran(env: Mapping[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(words, env=dict(env), capture_output=True, text=True, timeout=600, check=False)


def test_three_tasks_are_solved_in_containers(env: dict[str, str]) -> None:
    done = ran(env, sys.executable, "-m", "skyrl_train", "demo", "--sandbox", "podman", "--python", sys.executable)
    if "Podman cannot be used" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("sandbox: Podman, this machine's programs read-only, no network\n")
    assert done.stdout.count("reward 1: ") == 6
    assert ran(env, "podman", "ps", "--all", "--quiet").stdout == ""
    assert list(Path(env["TMPDIR"]).iterdir()) == []


def test_an_image_that_is_not_there_is_said(env: dict[str, str]) -> None:
    done = ran(env, sys.executable, "-m", "skyrl_train", "demo", "--image", "localhost/none:1")
    assert done.returncode == 2
    assert done.stderr.startswith("skyrl-train demo: image localhost/none:1 cannot be used: ")
    assert "localhost/none:1: image not known" in done.stderr


def test_a_podman_that_does_not_work_is_done_without(env: dict[str, str]) -> None:
    Path(env["CONTAINERS_CONF"]).write_text('[engine]\nruntime = "none_such"\n')
    done = ran(env, sys.executable, "-m", "skyrl_train", "demo", "--python", sys.executable)
    assert done.returncode == 0
    first, second, *_ = done.stdout.splitlines()
    assert first.startswith("Podman cannot be used here: ")
    assert second.startswith("UNSAFE: ")
