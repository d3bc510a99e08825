"""Commands and files: against sandboxd itself, behind a runtime in memory."""

import asyncio
import hashlib
import resource
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import httpx
import pytest

from fakes.fake_runtime import IMAGE, FakeRuntime
from sandboxd_process import KEY, Sandboxd, running
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.transcript import Result
from skyrl_train.sandbox.client.failures import Cause, SandboxError
from skyrl_train.sandbox.client.runtime import RuntimeClient, SandboxRequest
from skyrl_train.sandbox.client.sandbox import Sandbox
from skyrl_train.sandbox.client.tools import remote_tools

T = TypeVar("T")


@dataclass
class OneSandbox:
    """A runtime whose one sandbox is a real sandboxd."""

    url: str
    key: str = KEY

    def __call__(self, _: httpx.Request) -> httpx.Response:
        body = {"runtime_id": "r1", "url": self.url, "session_api_key": self.key, "pod_status": "ready"}
        return httpx.Response(200, json={**body, "status": "running"})


class Mixed(httpx.AsyncBaseTransport):
    """The runtime's API from memory, the sandbox's over the wire."""

    def __init__(self, runtime: OneSandbox) -> None:
        self._runtime = httpx.MockTransport(runtime)
        self._wire = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        chosen = self._runtime if request.url.host == "runtime" else self._wire
        return await chosen.handle_async_request(request)

    async def aclose(self) -> None:
        await self._wire.aclose()


@pytest.fixture(scope="module")
def sandboxd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandboxd]:
    with running(tmp_path_factory.mktemp("sandboxd")) as process:
        yield process


def using(url: str, work: Callable[[Sandbox], Awaitable[T]], *, key: str = KEY) -> T:
    async def main() -> T:
        transport = Mixed(OneSandbox(url, key))
        client = RuntimeClient("http://runtime:1", "k", transport=transport)
        async with client, client.sandbox(SandboxRequest(image=IMAGE)) as sandbox:
            return await work(sandbox)

    return asyncio.run(main())


def test_a_command_says_all(sandboxd: Sandboxd) -> None:
    done = using(sandboxd.url, lambda box: box.execute("echo out; echo err >&2; cd /; exit 3", cwd="/tmp"))
    assert (done.exit_code, done.stdout, done.stderr, done.timed_out) == (3, "out\n", "err\n", False)


def test_a_command_is_stopped_at_its_limit(sandboxd: Sandboxd) -> None:
    done = using(sandboxd.url, lambda box: box.execute("echo begun; sleep 60", timeout_s=0.2))
    assert (done.exit_code, done.stdout.startswith("begun\n"), done.timed_out) == (-1, True, True)


def test_much_output_is_cut_with_a_notice(sandboxd: Sandboxd) -> None:
    done = using(sandboxd.url, lambda box: box.execute("head -c 300000 /dev/zero | tr '\\0' x", max_chars=1000))
    assert (done.truncated, done.stdout[:1000]) == (True, "x" * 1000)
    assert done.stdout[1000:] == "\n[... 299000 more characters were left out ...]\n"


def test_a_cancelled_command_is_stopped(sandboxd: Sandboxd, tmp_path: Path) -> None:
    flag, whole = tmp_path / "flag", tmp_path / "whole"

    async def work(box: Sandbox) -> None:
        task = asyncio.ensure_future(box.execute(f"echo $$ > {flag}; mv {flag} {whole}; exec sleep 300", timeout_s=300))
        while not whole.exists():
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        left = await box.execute(f"kill -0 $(cat {whole})")
        assert (left.exit_code, left.stderr.count("No such process")) == (1, 1)

    using(sandboxd.url, work)


def test_files_go_there_and_back_with_flat_memory(sandboxd: Sandboxd, tmp_path: Path) -> None:
    size = 64 << 20
    source, target = tmp_path / "source", tmp_path / "target"
    with open(source, "wb") as file:
        file.truncate(size)

    async def work(box: Sandbox) -> tuple[int, int]:
        there = f"{tmp_path}/inside"
        return await box.upload(source, there), await box.download(there, target)

    using(sandboxd.url, lambda box: box.upload(b"warm", f"{tmp_path}/warm"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert using(sandboxd.url, work) == (size, size)
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert target.stat().st_size == size
    assert grown_kib < 20_000
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_bytes_go_there_and_back(sandboxd: Sandboxd, tmp_path: Path) -> None:
    data = hashlib.sha256(b"x").digest() * 100 + b"\r\n--boundary\r\n\0"

    async def work(box: Sandbox) -> bytes:
        await box.upload(data, f"{tmp_path}/a name with spaces & ümlaut")
        return await box.read(f"{tmp_path}/a name with spaces & ümlaut")

    assert using(sandboxd.url, work) == data


def test_refusals_of_files_are_told(sandboxd: Sandboxd, tmp_path: Path) -> None:
    def refused(work: Callable[[Sandbox], Awaitable[object]], *, key: str = KEY) -> tuple[Cause, int | None]:
        with pytest.raises(SandboxError) as caught:
            using(sandboxd.url, work, key=key)
        return caught.value.cause, caught.value.failure.status

    target = tmp_path / "target"
    assert refused(lambda box: box.download(f"{tmp_path}/none", target)) == (Cause.REFUSED, 404)
    assert refused(lambda box: box.upload(b"x", "relative")) == (Cause.REFUSED, 400)
    assert refused(lambda box: box.upload(b"x", str(tmp_path))) == (Cause.REFUSED, 400)
    assert refused(lambda box: box.upload(b"x", f"{tmp_path}/x"), key="another") == (Cause.KEY, 401)
    assert refused(lambda box: box.execute("true"), key="another") == (Cause.KEY, 401)
    (tmp_path / "large").write_bytes(b"x" * 2000)
    assert refused(lambda box: box.read(f"{tmp_path}/large", limit_bytes=1999)) == (Cause.REFUSED, None)
    assert not target.exists()


def test_routes_of_another_version_are_named() -> None:
    runtime = FakeRuntime()
    runtime.file_routes = False

    async def main() -> None:
        async with runtime.client() as client, client.sandbox(SandboxRequest(image=IMAGE)) as sandbox:
            await sandbox.upload(b"x", "/x")

    with pytest.raises(
        SandboxError, match=r"the agent server \(version 1\.58\.0\) does not have this route for files"
    ) as caught:
        asyncio.run(main())
    assert caught.value.cause is Cause.ROUTE


def test_a_transfer_that_breaks_off_is_done_again() -> None:
    runtime = FakeRuntime()
    runtime.faults["POST /api/file/upload"] = [httpx.WriteError("reset"), httpx.ReadError("reset")]
    runtime.faults["GET /api/file/download"] = [httpx.RemoteProtocolError("cut off")]

    async def main() -> bytes:
        async with runtime.client() as client, client.sandbox(SandboxRequest(image=IMAGE)) as sandbox:
            await sandbox.upload(b"data", "/x")
            return await sandbox.read("/x")

    assert asyncio.run(main()) == b"data"


def test_a_file_that_arrives_short_is_an_error() -> None:
    runtime = FakeRuntime()
    runtime.faults["POST /api/file/upload"] = [httpx.Response(200, json={"success": True, "file_size": 3})]

    async def main() -> None:
        async with runtime.client() as client, client.sandbox(SandboxRequest(image=IMAGE)) as sandbox:
            await sandbox.upload(b"data", "/x")

    with pytest.raises(SandboxError, match=r"/x has 3 bytes in the sandbox; expected 4"):
        asyncio.run(main())


def test_the_tools_keep_their_state(sandboxd: Sandboxd, tmp_path: Path) -> None:
    async def main() -> list[Result]:
        transport = Mixed(OneSandbox(sandboxd.url))
        client = RuntimeClient("http://runtime:1", "k", transport=transport)
        async with client, remote_tools(client, SandboxRequest(image=IMAGE), directory=str(tmp_path)) as tools:
            edit = {"command": "create", "path": f"{tmp_path}/f", "file_text": "x" * 50_000}
            return [
                await tools.run(Action("terminal", {"command": "export A=1; mkdir d; cd d"}), limit_s=120),
                await tools.run(Action("terminal", {"command": "echo $A; pwd"}), limit_s=120),
                await tools.run(Action("file_editor", dict(edit)), limit_s=120),
                await tools.run(Action("terminal", {"command": "wc -c ../f"}), limit_s=120),
            ]

    try:
        results = asyncio.run(main())
    finally:  # a sandbox's end takes its tools with it; this one is the machine itself
        ended = subprocess.run(["pkill", "-KILL", "-f", f"tools.zip {tmp_path}"], timeout=300, check=False)
    assert ended.returncode == 0
    assert results[1].text.startswith(f"1\n{tmp_path}/d")
    assert results[3].text.startswith("50000 ../f")
