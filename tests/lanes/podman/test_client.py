"""The client, the agent's tools and the doctor's canary against a real server over a real Podman."""

import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from lanes.podman.conftest import NewLab
from lanes.podman.lab import IMAGE, wait_until
from lanes.podman.runtime import Server
from skyrl_doctor.core.model import Outcome, Role, Status
from skyrl_doctor.facts import runtime as probes
from skyrl_doctor.machine.local import LocalMachine
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.ports import Task
from skyrl_train.sandbox.client.canary import CanaryRequest, run_canary
from skyrl_train.sandbox.client.failures import Cause, Failure, SandboxError
from skyrl_train.sandbox.client.runtime import Limits, RuntimeClient, SandboxRequest
from skyrl_train.sandbox.client.sandbox import Sandbox
from skyrl_train.sandbox.client.tools import opener
from support import judge, plan_of

pytestmark = pytest.mark.podman
T = TypeVar("T")
GIB = 1 << 30


@pytest.fixture(scope="module")
def server(new_lab: NewLab, image_archive: Path) -> Iterator[Server]:
    """One for all tests here: each leaves it without a sandbox."""
    lab = new_lab()
    made = Server(lab).stock(image_archive)
    try:
        yield made.up()
    finally:
        made.close()
        lab.close()


@pytest.fixture(autouse=True)
def nothing_left(server: Server) -> Iterator[None]:
    yield
    wait_until(lambda: live(server) == [])


def live(server: Server) -> list[str]:
    found = server.client().get("/list").json()["runtimes"]
    return [one["session_id"] for one in found if one["status"] != "stopped"]


def using(server: Server, work: Callable[[Sandbox], Awaitable[T]]) -> T:
    async def main() -> T:
        async with (
            RuntimeClient(server.url, server.key) as client,
            client.sandbox(SandboxRequest(image=IMAGE)) as sandbox,
        ):
            return await work(sandbox)

    return asyncio.run(main())


def test_a_sandbox_from_start_to_removal(server: Server) -> None:
    async def work(box: Sandbox) -> tuple[str, bytes, bool]:
        done = await box.execute("id -u; echo hello >/tmp/file")
        await box.pause()
        await box.resume()
        return done.stdout, await box.read("/tmp/file"), box.has_key

    assert using(server, work) == ("0\n", b"hello\n", True)


def test_a_gigabyte_up_and_down_with_flat_memory(server: Server, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with open(source, "wb") as file:
        file.truncate(GIB)

    async def work(box: Sandbox) -> tuple[int, int]:
        return await box.upload(source, "/tmp/large"), await box.download("/tmp/large", target)

    using(server, lambda box: box.upload(b"warm", "/tmp/warm"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert using(server, work) == (GIB, GIB)
    assert target.stat().st_size == GIB
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000


def test_the_agents_tools_in_an_image_without_python(server: Server) -> None:
    """The mounted Python runs them. The image has no bash either, which the terminal needs: the editor does not."""

    async def main() -> tuple[str, str]:
        async with RuntimeClient(server.url, server.key) as client:
            open_sandbox = opener(client, lambda _: SandboxRequest(image=IMAGE), directory="/tmp")
            async with open_sandbox(Task(id="t", rollout_id="r", prompt=())) as tools:
                made = {"command": "create", "path": "/tmp/new", "file_text": "text\n"}
                first = await tools.run(Action("file_editor", dict(made)), limit_s=120)
                second = await tools.run(Action("file_editor", {"command": "view", "path": "/tmp/new"}), limit_s=120)
                return first.text, second.text

    first, second = asyncio.run(main())
    assert "/tmp/new" in first
    assert "text" in second


def test_a_wrong_key_starts_nothing(server: Server) -> None:
    async def main() -> None:
        async with RuntimeClient(server.url, "another") as client, client.sandbox(SandboxRequest(image=IMAGE)):
            raise AssertionError

    with pytest.raises(SandboxError) as caught:
        asyncio.run(main())
    assert caught.value.cause is Cause.KEY


def test_an_image_that_is_not_there_is_named(server: Server) -> None:
    failures: list[Failure] = []

    async def main() -> None:
        client = RuntimeClient(server.url, server.key, events=failures.append, limits=Limits(start_s=240))
        async with client, client.sandbox(SandboxRequest(image="localhost/none:1", pull_policy="Never")):
            raise AssertionError

    with pytest.raises(SandboxError) as caught:
        asyncio.run(main())
    assert caught.value.cause in (Cause.IMAGE, Cause.LOST), str(caught.value)
    assert "localhost/none:1" in str(caught.value)


def test_twelve_at_once_wait_for_eight_slots(server: Server) -> None:
    async def one(client: RuntimeClient) -> str:
        async with client.sandbox(SandboxRequest(image=IMAGE)) as sandbox:
            return (await sandbox.execute("echo done")).stdout

    async def main() -> list[str]:
        async with RuntimeClient(server.url, server.key) as client:
            return await asyncio.gather(*(one(client) for _ in range(12)))

    assert asyncio.run(main()) == ["done\n"] * 12


def test_a_cancelled_start_leaves_nothing(server: Server) -> None:
    async def main() -> None:
        async with RuntimeClient(server.url, server.key) as client:
            task = asyncio.ensure_future(client.start(SandboxRequest(image=IMAGE)))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    assert live(server) == []


def test_the_canary_sees_a_good_runtime(server: Server) -> None:
    trial = CanaryRequest(url=server.url, key=server.key, image=IMAGE, count=4, limit_s=200)
    seen = asyncio.run(run_canary(trial))
    assert (seen.worked, seen.failures, seen.left, seen.wrong_key_refused) == (4, [], 0, True)


def test_a_canary_that_is_killed_leaves_nothing(server: Server) -> None:
    """SIGKILL as soon as its sandboxes are there: the process that waits on its pipe removes them."""
    words = [f"file {server.job_dir}/runtime_api_key.txt", IMAGE, "4", "60"]
    command = [sys.executable, "-m", "skyrl_train.sandbox.client.canary", server.url, *words]
    process = subprocess.Popen(command, start_new_session=True)
    wait_until(lambda: len(live(server)) == 4)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: live(server) == [])


def examined(server: Server, check_id: str, tmp_path: Path) -> Outcome:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"docker_image": IMAGE}) + "\n")
    plan = plan_of(data__train_files=[str(rows)], sandbox__inject="mount", agent__max_parallel=4)
    environ = {**os.environ, "SKYRL_JOB_DIR": str(server.job_dir), "HOME": str(tmp_path)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probes, "CANARY_S", 200.0)  # of a machine that is slow, and does other things too
        return judge(check_id, LocalMachine(environ), plan=plan, role=Role.RUNTIME)


@pytest.mark.parametrize("check_id", ["RUN001", "RUN004", "RUN008", "RUN009", "RUN010"])
def test_the_doctor_is_content_with_our_runtime(server: Server, tmp_path: Path, check_id: str) -> None:
    outcome = examined(server, check_id, tmp_path)
    assert (outcome.status, outcome.findings, outcome.reason) == (Status.PASS, (), "")


def test_the_doctor_finds_another_key(server: Server, tmp_path: Path) -> None:
    file = server.job_dir / "runtime_api_key.txt"
    key = file.read_text()
    file.write_text("another\n")
    try:
        outcome = examined(server, "RUN001", tmp_path)
    finally:
        file.write_text(key)
    assert [found.message.partition(" refuses ")[2] for found in outcome.findings] == [
        f"{file} with 401; wanted the key that it was started with"
    ]
