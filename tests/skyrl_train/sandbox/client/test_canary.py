"""Sandboxes of the doctor's own: what they see, and that none is left."""

import asyncio

import httpx
import pytest

from fakes.fake_runtime import IMAGE, KEY, URL, FakeRuntime, FakeSession
from skyrl_train.sandbox.client.canary import CanaryRequest, CanaryResult, run_canary, session_ids


def flown(runtime: FakeRuntime, *, count: int = 3, key: str = KEY, limit_s: float = 5.0) -> CanaryResult:
    trial = CanaryRequest(url=URL, key=key, image=IMAGE, count=count, limit_s=limit_s, ids=session_ids(count))
    return asyncio.run(run_canary(trial, transport=runtime.transport))


def healthy() -> FakeRuntime:
    runtime = FakeRuntime()
    runtime.new = lambda name: FakeSession(name, ["pending", "ready"])
    runtime.on_command = lambda command: [
        {"order": 0, "stdout": f"{command.removeprefix('echo ')}\n", "stderr": "", "exit_code": 0}
    ]
    return runtime


def test_sees_that_all_work_and_leaves_none() -> None:
    runtime = healthy()
    seen = flown(runtime)
    assert (seen.asked, seen.worked, seen.failures, seen.left) == (3, 3, [], 0)
    assert (seen.has_key, seen.server_version, seen.wrong_key_refused) == (True, "1.58.0", True)
    assert (len(seen.start_s), len(seen.command_s), runtime.sessions) == (3, 3, {})


def test_names_the_cause_of_each_failure() -> None:
    runtime = healthy()
    runtime.faults["POST /start"] = [httpx.Response(500, text="engine is gone")]
    seen = flown(runtime)
    assert (seen.worked, [cause for cause, _ in seen.failures], runtime.sessions) == (2, ["RUN010"], {})


def test_a_file_that_comes_back_changed_is_a_failure() -> None:
    runtime = healthy()
    runtime.faults["GET /api/file/download"] = [httpx.Response(200, content=b"other")]
    seen = flown(runtime, count=1)
    assert [cause for cause, _ in seen.failures] == ["garbled"]


@pytest.mark.parametrize("status", ["pending", "running"])
def test_ends_in_time_and_removes_what_never_came_up(status: str) -> None:
    runtime = healthy()
    runtime.new = lambda name: FakeSession(name, [status])
    seen = flown(runtime, limit_s=0.2)
    assert (seen.worked, len(seen.failures), runtime.sessions) == (0, 3, {})


def test_a_key_that_is_refused_starts_nothing() -> None:
    runtime = healthy()
    seen = flown(runtime, key="another")
    assert ([cause for cause, _ in seen.failures], runtime.sessions) == (["RUN001"] * 3, {})
