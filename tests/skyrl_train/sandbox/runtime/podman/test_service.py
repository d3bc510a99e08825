"""Podman's service as a child that is watched. What stands for Podman listens, or says what Podman says."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from fakes.runtime import asynchronous
from skyrl_train.sandbox.runtime.engine import EngineUnsureError
from skyrl_train.sandbox.runtime.podman.lost_namespace import revive
from skyrl_train.sandbox.runtime.podman.service import Service

LOST = (
    'time="2026-11-21T06:48:25Z" level=error msg="invalid internal status, try resetting the pause process with '
    '\\"podman system migrate\\": could not find any running process: no such process"'
)
PODMAN = f"""#!{sys.executable} -IS
import os, socket, sys
open({{record!r}}, "a").write(" ".join(sys.argv[1:]) + "\\n")
if os.path.exists(os.environ["XDG_RUNTIME_DIR"] + "/libpod/tmp/alive"):
    sys.exit({LOST!r})
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(sys.argv[-1].removeprefix("unix://"))
    listener.listen()
    while True:
        listener.accept()[0].close()
"""


class Lab:
    def __init__(self, base: Path) -> None:
        self.record = base / "record"
        self.run_dir = base / "run"
        self.told: list[str] = []
        (base / "bin").mkdir()
        (base / "bin" / "podman").write_text(PODMAN.format(record=str(self.record)))
        (base / "bin" / "podman").chmod(0o755)
        (self.run_dir / "libpod" / "tmp").mkdir(parents=True)
        environ = {"PATH": f"{base}/bin:{os.environ['PATH']}", "XDG_RUNTIME_DIR": str(self.run_dir)}
        self.service = Service(f"{self.run_dir}/api.sock", environ, self.told.append)

    def mark(self, name: str) -> Path:
        path = self.run_dir / "libpod" / "tmp" / name
        path.write_text("")
        return path


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


async def until_restarted(lab: Lab, count: int) -> None:
    while lab.service.restarts < count or not await lab.service._listens():
        await asyncio.sleep(0.01)


@asynchronous
async def test_a_service_that_dies_is_started_again_and_told(lab: Lab) -> None:
    await lab.service.open()
    try:
        os.kill(lab.service.pid, signal.SIGKILL)
        await until_restarted(lab, 1)
        assert lab.told == ["Podman's service ended with -9: nothing"]
    finally:
        await lab.service.close()
    assert not os.path.exists(lab.service.socket_path)


@asynchronous
async def test_a_namespace_that_was_lost_is_made_anew_without_a_repair(lab: Lab) -> None:
    await lab.service.open()
    try:
        alive, pause = lab.mark("alive"), lab.mark("pause.pid")
        os.kill(lab.service.pid, signal.SIGKILL)
        await until_restarted(lab, 2)
        assert (alive.exists(), pause.exists()) == (False, False)
        assert lab.told == [
            "Podman's service ended with -9: nothing",
            f"Podman's service ended with 1: {LOST}",
            "the namespace of the sandboxes was lost: the store is as after a boot, 0 processes ended",
        ]
        words = {word for line in lab.record.read_text().splitlines() for word in line.split()}
        assert words == {"system", "service", "--time=0", f"unix://{lab.service.socket_path}"}
    finally:
        await lab.service.close()


@asynchronous
async def test_at_the_start_a_lost_namespace_is_not_ours_to_mend(lab: Lab) -> None:
    """What an earlier server left is examined, and set aside, before."""
    alive = lab.mark("alive")
    with pytest.raises(EngineUnsureError, match="invalid internal status"):
        await lab.service.open()
    assert alive.exists()


@pytest.mark.parametrize(
    "said",
    [
        "cannot re-exec process to join the existing user namespace",
        'level=error msg="cannot set user namespace"',
    ],
)
def test_where_a_sandbox_may_live_only_the_pause_process_is_forgotten(lab: Lab, said: str) -> None:
    alive, pause = lab.mark("alive"), lab.mark("pause.pid")
    assert revive(str(lab.run_dir), said) == "the pause process is gone, and forgotten"
    assert (alive.exists(), pause.exists()) == (True, False)


@pytest.mark.parametrize("said", ["no space left on device", "database is locked", ""])
def test_other_troubles_are_others(lab: Lab, said: str) -> None:
    alive, pause = lab.mark("alive"), lab.mark("pause.pid")
    assert revive(str(lab.run_dir), said) == ""
    assert (alive.exists(), pause.exists()) == (True, True)
