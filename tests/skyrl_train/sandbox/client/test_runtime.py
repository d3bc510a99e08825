"""The client against a runtime in memory: what it retries, what it names, and what it leaves behind."""

import asyncio

import httpx
import pytest

from fakes.fake_runtime import IMAGE, KEY, FakeRuntime, FakeSession
from skyrl_train.sandbox.client.failures import Cause, SandboxError
from skyrl_train.sandbox.client.runtime import Limits, SandboxRequest

SESSION = "s1"
WANTED = SandboxRequest(image=IMAGE, session_id=SESSION)


def lived(runtime: FakeRuntime, *, key: str = "the-key-of-this-job", limits: Limits | None = None) -> str:
    """Starts a sandbox, runs a command in it, removes it."""

    async def main() -> str:
        async with runtime.client(key=key, limits=limits) as client, client.sandbox(WANTED) as sandbox:
            return (await sandbox.execute("ls")).stdout

    return asyncio.run(main())


def failure_of(runtime: FakeRuntime, *, key: str = "the-key-of-this-job", limits: Limits | None = None) -> SandboxError:
    """How the same fails. One event goes out for the failure, and no session stays."""
    with pytest.raises(SandboxError) as caught:
        lived(runtime, key=key, limits=limits)
    assert runtime.failures[0] == caught.value.failure
    return caught.value


def test_starts_runs_and_removes() -> None:
    runtime = FakeRuntime()
    assert lived(runtime) == "ran ls\n"
    assert (runtime.sessions, runtime.failures) == ({}, [])
    assert runtime.asked[0] == "POST /start"
    assert runtime.asked[-1] == "POST /stop"


def test_a_wrong_key_is_told_as_such() -> None:
    runtime = FakeRuntime()
    error = failure_of(runtime, key="another")
    assert str(error) == (
        "start (session s1): 401: wrong key; client and server must read the key file of the same job "
        "(a wrong key in X-API-Key) [RUN001]"
    )
    assert runtime.asked[0] == "POST /start"
    assert runtime.asked.count("POST /start") == 1


def test_waits_as_long_as_a_full_runtime_says() -> None:
    runtime = FakeRuntime()
    full = httpx.Response(503, headers={"Retry-After": "7"}, json={"detail": "No available worker slots: 4 of 4"})
    runtime.faults["POST /start"] = [full, full]
    assert lived(runtime) == "ran ls\n"
    assert runtime.slept[:2] == [7.0, 7.0]


def test_a_runtime_that_stays_full_is_named() -> None:
    runtime = FakeRuntime()
    full = httpx.Response(503, headers={"Retry-After": "0"}, json={"detail": "No available worker slots: 4 of 4"})
    runtime.faults["POST /start"] = [full] * 100_000
    error = failure_of(runtime, limits=Limits(start_s=0.2))
    assert (error.cause, error.failure.status) == (Cause.SLOTS, 503)
    assert "No available worker slots: 4 of 4" in str(error)


@pytest.mark.parametrize(
    ("logs", "cause"),
    [
        ('exec: executable file "/usr/local/bin/openhands-agent-server" not found in $PATH', "IMG001"),
        ("version `GLIBC_2.38' not found", "IMG008"),
        ("toomanyrequests: You have reached your pull rate limit", "IMG009"),
        ("manifest unknown", "IMG009"),
        ("", "lost"),
    ],
)
def test_a_sandbox_that_failed_says_why(logs: str, cause: str) -> None:
    runtime = FakeRuntime()
    runtime.new = lambda name: FakeSession(name, ["pending", "failed"], logs=logs)
    error = failure_of(runtime)
    assert error.cause.value == cause
    assert runtime.sessions == {}


def test_states_that_clients_do_not_know() -> None:
    runtime = FakeRuntime()
    runtime.new = lambda name: FakeSession(name, ["created", "exited"])
    assert failure_of(runtime).cause is Cause.STATE


def test_called_running_for_ever_though_it_answers() -> None:
    runtime = FakeRuntime()
    runtime.new = lambda name: FakeSession(name, ["running"])
    error = failure_of(runtime, limits=Limits(start_s=0.2))
    assert error.cause is Cause.STATE
    assert "the sandbox answers, but after 0.2 s its pod_status is still 'running'" in str(error)


def test_not_ready_in_time() -> None:
    runtime = FakeRuntime()
    runtime.new = lambda name: FakeSession(name, ["pending"])
    error = failure_of(runtime, limits=Limits(start_s=0.2))
    assert (error.cause, error.failure.detail) == (
        Cause.NOT_READY,
        "not ready within 0.2 s; its status is 'pending'",
    )
    assert runtime.sessions == {}


@pytest.mark.parametrize(("key", "cause"), [(None, Cause.LOOPBACK), ("key", Cause.UNREACHABLE)])
def test_called_ready_and_nothing_answers(key: str | None, cause: Cause) -> None:
    runtime = FakeRuntime()
    runtime.new = lambda name: FakeSession(name, ["ready"], key=key)
    runtime.faults["GET /health"] = [httpx.ConnectError("Connection refused")] * 9
    assert failure_of(runtime).cause is cause


def test_what_was_not_sent_is_sent_again() -> None:
    runtime = FakeRuntime()
    runtime.faults["POST /start"] = [httpx.ConnectError("refused"), httpx.ConnectTimeout("slow")]
    runtime.faults["POST /api/bash/start_bash_command"] = [httpx.ConnectError("refused")]
    assert lived(runtime) == "ran ls\n"


def test_a_start_whose_answer_was_lost_is_asked_again_and_is_one_session() -> None:
    runtime = FakeRuntime()
    runtime.faults["POST /start"] = [httpx.ReadError("reset"), httpx.RemoteProtocolError("cut off")]
    assert lived(runtime) == "ran ls\n"
    assert runtime.sessions == {}


def test_a_command_is_never_sent_twice() -> None:
    runtime = FakeRuntime()
    runtime.faults["POST /api/bash/start_bash_command"] = [httpx.ReadError("reset")]
    error = failure_of(runtime)
    assert (error.cause, error.failure.sent) == (Cause.LOST, True)
    assert runtime.asked.count("POST /api/bash/start_bash_command") == 1


def test_asking_after_a_command_survives_a_broken_connection() -> None:
    runtime = FakeRuntime()
    runtime.faults["GET /api/bash/bash_events/search"] = [httpx.ReadError("reset"), httpx.Response(502)]
    assert lived(runtime) == "ran ls\n"


def test_a_runtime_that_is_not_there() -> None:
    runtime = FakeRuntime()
    runtime.faults["POST /start"] = [httpx.ConnectError("Connection refused")] * 100_000
    runtime.faults["GET /sessions/s1"] = [httpx.ConnectError("Connection refused")] * 100_000
    error = failure_of(runtime, limits=Limits(start_s=0.2))
    assert error.cause in (Cause.TIMEOUT, Cause.UNREACHABLE, Cause.NOT_READY)
    assert "cannot connect to node07:8000: Connection refused" in str(error)


@pytest.mark.parametrize(
    ("image", "cause"), [("d", Cause.REFERENCE), ("-x", Cause.REFERENCE), ("a/bc:1", Cause.REFERENCE)]
)
def test_a_name_that_is_no_image_is_not_sent(image: str, cause: Cause) -> None:
    runtime = FakeRuntime()

    async def main() -> None:
        async with runtime.client() as client:
            await client.start(SandboxRequest(image=image))

    with pytest.raises(SandboxError) as caught:
        asyncio.run(main())
    assert (caught.value.cause, runtime.asked) == (cause, [])


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"url": "http://x"}', b'{"runtime_id": "r", "url": 3}'])
def test_an_answer_that_is_no_session(body: bytes) -> None:
    runtime = FakeRuntime()
    runtime.faults["POST /start"] = [httpx.Response(200, content=body)]
    assert failure_of(runtime).cause is Cause.GARBLED


def test_pause_and_resume() -> None:
    runtime = FakeRuntime()
    seen: list[str] = []

    async def main() -> None:
        async with runtime.client() as client, client.sandbox(WANTED) as sandbox:
            await sandbox.pause()
            seen.append(runtime.sessions[SESSION].status)
            await sandbox.resume()
            seen.append(runtime.sessions[SESSION].status)
            await sandbox.close()
            await sandbox.close()

    asyncio.run(main())
    assert seen == ["paused", "running"]


def test_a_paused_session_that_is_started_again_is_resumed() -> None:
    runtime = FakeRuntime()
    runtime.sessions[SESSION] = FakeSession(SESSION, ["pending", "pending", "ready"], status="paused")
    assert lived(runtime) == "ran ls\n"
    assert "POST /resume" in runtime.asked


def test_a_session_that_is_gone_cannot_be_paused() -> None:
    runtime = FakeRuntime()

    async def main() -> None:
        async with runtime.client() as client, client.sandbox(WANTED) as sandbox:
            runtime.sessions.clear()
            await sandbox.pause()

    with pytest.raises(SandboxError, match=r"pause \(session s1\): the runtime does not know this session \[lost\]"):
        asyncio.run(main())


@pytest.mark.parametrize(
    "line", ["POST /start", "GET /sessions/s1", "GET /health", "POST /api/bash/start_bash_command"]
)
def test_a_cancelled_task_leaves_no_session(line: str) -> None:
    """Cancelled in the middle of each request on the way, and once more while it is being removed."""
    runtime = FakeRuntime()

    async def main() -> None:
        task = asyncio.ensure_future(work())
        done = False

        def cancel(asked: str) -> None:
            nonlocal done
            if (asked == line and not done) or asked == "POST /stop":
                done = True
                task.cancel()

        runtime.before_answer = cancel
        with pytest.raises(asyncio.CancelledError):
            await task

    async def work() -> None:
        async with runtime.client() as client, client.sandbox(WANTED) as sandbox:
            await sandbox.execute("ls")

    asyncio.run(main())
    assert runtime.sessions == {}


def test_a_start_that_fails_leaves_no_session_without_a_context_either() -> None:
    runtime = FakeRuntime()
    runtime.new = lambda name: FakeSession(name, ["failed"])

    async def main() -> None:
        async with runtime.client() as client:
            await client.start(WANTED)

    with pytest.raises(SandboxError):
        asyncio.run(main())
    assert runtime.sessions == {}


def test_an_error_of_the_caller_removes_the_sandbox_and_stays_itself() -> None:
    runtime = FakeRuntime()
    runtime.faults["POST /stop"] = [httpx.Response(500)] * 3

    async def main() -> None:
        async with runtime.client() as client, client.sandbox(WANTED):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(main())
    assert runtime.causes == ["RUN010"]  # what stop said is told, and does not hide what happened before


def test_a_sandbox_that_cannot_be_removed_is_an_error() -> None:
    runtime = FakeRuntime()
    runtime.faults["POST /stop"] = [httpx.Response(500, text="engine is gone")] * 3
    assert failure_of(runtime).cause is Cause.LOAD


def test_no_finaliser_cleans_up_behind_the_callers_back() -> None:
    from skyrl_train.sandbox.client.runtime import RuntimeClient
    from skyrl_train.sandbox.client.sandbox import Sandbox

    assert [kind for kind in (RuntimeClient, Sandbox) if hasattr(kind, "__del__")] == []


def test_the_health_of_a_runtime_is_empty_or_a_reason() -> None:
    runtime = FakeRuntime()

    async def asked(key: str) -> str:
        async with runtime.client(key=key) as client:
            return await client.health()

    assert asyncio.run(asked(KEY)) == ""
    assert "[RUN001]" in asyncio.run(asked("another key"))
    runtime.faults["GET /sessions/skyrl-health"] = [httpx.ConnectError("refused")] * 50
    assert "[unreachable]" in asyncio.run(asked(KEY))
