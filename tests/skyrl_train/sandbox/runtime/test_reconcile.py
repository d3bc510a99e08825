"""A server that was killed at any moment, and the next one."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from fakes.engine import FakeEngine
from fakes.runtime import asynchronous, serving
from skyrl_train.sandbox.runtime.engine import EngineUnsureError


@asynchronous
async def test_ready_sandboxes_are_taken_over_with_key_and_port(tmp_path: Path) -> None:
    engine = FakeEngine()
    async with serving(tmp_path, engine) as server:
        before = await server.start("s1")
        paused = await server.start("s2")
        await server.do("pause", paused["runtime_id"])
    async with serving(tmp_path, engine) as server:
        after = await server.session("s1")
        assert {name: after[name] for name in ("runtime_id", "url", "session_api_key", "pod_status")} == {
            name: before[name] for name in ("runtime_id", "url", "session_api_key", "pod_status")
        }
        assert (await server.session("s2"))["status"] == "paused"
        assert server.admission.slots.used == 2
        engine.kill(before["runtime_id"])
        await server.until(lambda: server.store.current(before["runtime_id"]).state == "failed")


class Killed(BaseException):
    """The server's end, at a moment of the test's choice."""


@pytest.mark.parametrize("call", ["image", "start", "remove"])
@pytest.mark.parametrize("done", [False, True])
@asynchronous
async def test_killed_at_an_engine_call_nothing_is_lost_or_doubled(tmp_path: Path, call: str, done: bool) -> None:
    engine = FakeEngine()
    never = asyncio.Event()
    async with serving(tmp_path, engine, hold_s=0) as server:
        if call == "remove":
            begun = await server.start("s1")
            await server.until(lambda: server.store.current(begun["runtime_id"]).state == "ready")
        engine.hold[call] = never
        waiting = asyncio.create_task(
            server.do("stop", begun["runtime_id"]) if call == "remove" else server.start("s1")
        )
        await server.until(lambda: any(made.startswith(call) for made in engine.calls))
        if done and call == "start":  # it was done, and nobody heard the answer
            runtime_id = server.store.records.live()[0].runtime_id
            spec = server.runtime.starter.plan(server.store.current(runtime_id), engine.images["localhost/box:latest"])
            other = FakeEngine()
            await other.start(spec)
            engine.standing.update(other.standing)
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
    engine.hold.clear()
    async with serving(tmp_path, engine) as server:
        records = server.store.records.all()
        await server.until(lambda: not any(record.removal for record in server.store.records.all()))
        await server.until(lambda: {record.state for record in server.store.records.all()} <= {"ready", "stopped"})
        assert set(engine.standing) == {record.runtime_id for record in server.store.records.live()}
        assert len(records) == 1
        assert (await server.session("s1"))["pod_status"] == ("failed" if call == "remove" else "ready")


@asynchronous
async def test_what_died_meanwhile_is_failed_with_its_cause(tmp_path: Path) -> None:
    engine = FakeEngine()
    async with serving(tmp_path, engine) as server:
        begun = await server.start("s1")
    engine.kill(begun["runtime_id"])
    async with serving(tmp_path, engine) as server:
        found = await server.session("s1")
        assert found["pod_logs"].startswith("the sandbox ended: killed by SIGKILL (exit status 137), while no runtime")
        await server.until(lambda: engine.standing == {})


@asynchronous
async def test_a_container_that_nobody_asked_for_goes(tmp_path: Path) -> None:
    engine = FakeEngine()
    (tmp_path / "lost").mkdir()
    async with serving(tmp_path / "lost", engine) as server:
        await server.start("s1")
    async with serving(tmp_path, engine) as server:
        assert engine.standing == {}
        assert len(server.told("nobody's container")) == 1


@asynchronous
async def test_a_store_that_was_set_aside_takes_its_sessions_with_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.start("s1")
    async with serving(tmp_path, FakeEngine(), store="/store-2") as server:
        assert (await server.session("s1"))["pod_logs"] == "its container was in /store, which was set aside"


@asynchronous
async def test_a_removal_that_fails_is_tried_until_it_is_done(tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.fail["remove"] = [EngineUnsureError("no answer"), EngineUnsureError("no answer")]
    async with serving(tmp_path, engine) as server:
        begun = await server.start("s1")
        assert (await server.do("stop", begun["runtime_id"])).status_code == 200
        assert (engine.standing, server.admission.slots.used) == ({}, 0)
        assert len(server.told("not removed yet")) == 2


@asynchronous
async def test_a_damaged_book_is_put_aside(tmp_path: Path) -> None:
    (tmp_path / "sessions.sqlite").write_bytes(b"no database at all" * 100)
    async with serving(tmp_path) as server:
        assert (await server.start("s1"))["pod_status"] == "ready"
    assert (tmp_path / "sessions.sqlite.damaged").exists()
