"""A gigabyte up and down, and a flood of output, through the server and a sandbox: the memory of none of them grows."""

import asyncio
import json
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import pytest

from lanes.podman.conftest import NewLab
from lanes.podman.lab import IMAGE
from lanes.podman.runtime import SETTINGS, Server
from skyrl_train.sandbox.client.commands import CommandResult
from skyrl_train.sandbox.client.runtime import RuntimeClient, SandboxRequest
from skyrl_train.sandbox.client.sandbox import Sandbox

pytestmark = pytest.mark.podman
T = TypeVar("T")
GIB, MIB = 1 << 30, 1 << 20
SERVER_MIB, SANDBOXD_MIB, CLIENT_MIB = 32, 24, 48
"""By how much each may grow: buffers, and sandboxd's 2 MiB of each end of a stream in a few forms."""
SECONDS, EACH_MIB = 6, 2
PYTHON = "/opt/skyrl/python/libs/ld-* --library-path /opt/skyrl/python/libs /opt/skyrl/python/bin/python3 -I -S -c "
PIECE = PYTHON + f'\'open("/tmp/piece", "w").write("x" * ({EACH_MIB} << 20))\''
POUR = f"i=0; while [ $i -lt {SECONDS * 10 // EACH_MIB} ]; do cat /tmp/piece; sleep {EACH_MIB / 10}; i=$((i+1)); done"


@pytest.fixture
def server(new_lab: NewLab, image_archive: Path) -> Iterator[Server]:
    lab = new_lab()
    server = Server(lab, settings=replace(SETTINGS, slots=2)).stock(image_archive)
    yield server.up()
    server.close()
    lab.close()


def rss_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


@dataclass
class Samples:
    """The resident memory of processes, looked at all the while."""

    pids: dict[str, int]
    before: dict[str, float] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Samples":
        self.before = {name: rss_mib(pid) for name, pid in self.pids.items()}
        self.most = dict(self.before)
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self.over.wait(0.05):
            for name, pid in self.pids.items():
                self.most[name] = max(self.most[name], rss_mib(pid))

    def shown(self) -> dict[str, float]:
        return {f"{name}_grew_mib": round(self.most[name] - self.before[name], 1) for name in self.pids}


def sampled(server: Server, work: Callable[[Sandbox], Awaitable[T]]) -> tuple[T, dict[str, float], float]:
    """What it gave, by how much each side grew, and the seconds. A small file first: buffers and modules are there then."""

    async def main() -> tuple[T, dict[str, float], float]:
        async with RuntimeClient(server.url, server.key) as client, client.sandbox(SandboxRequest(image=IMAGE)) as box:
            await box.upload(b"warm", "/tmp/warm")
            await box.execute(PIECE)
            (name,) = server.podman("ps", "--format", "{{.Names}}").stdout.split()
            pid = int(server.podman("inspect", "-f", "{{.State.Pid}}", name).stdout)
            begun = time.perf_counter()
            with Samples({"server": server.pid, "sandboxd": pid, "client": os.getpid()}) as samples:
                given = await work(box)
            return given, samples.shown(), time.perf_counter() - begun

    return asyncio.run(main())


def judge(what: str, grew: dict[str, float], **more: float) -> None:
    figures = {"what": what, **more, **grew}
    print(json.dumps(figures))  # noqa: T201 -- the figures of the lane
    limits = {"server": SERVER_MIB, "sandboxd": SANDBOXD_MIB, "client": CLIENT_MIB}
    assert all(grew[f"{name}_grew_mib"] <= limit for name, limit in limits.items()), figures


def test_a_gigabyte_up_and_down(server: Server, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with open(source, "wb") as file:
        file.truncate(GIB)

    async def work(box: Sandbox) -> tuple[int, int]:
        return await box.upload(source, "/tmp/large"), await box.download("/tmp/large", target)

    sizes, grew, seconds = sampled(server, work)
    assert (sizes, target.stat().st_size) == ((GIB, GIB), GIB)
    judge("1 GiB up and down", grew, seconds=round(seconds, 1))


def test_ten_megabytes_of_output_a_second_are_cut_with_a_notice(server: Server) -> None:
    async def work(box: Sandbox) -> CommandResult:
        return await box.execute(POUR, timeout_s=600, max_chars=8 * MIB)

    done, grew, seconds = sampled(server, work)
    poured = SECONDS * 10
    assert (done.exit_code, done.timed_out) == (0, False)
    assert "bytes left out here" in done.stdout
    assert len(done.stdout) < 5 * MIB
    judge("10 MiB of output a second", grew, poured_mib=poured, seconds=round(seconds, 1), kept=len(done.stdout))
