"""One session's life, and what a second asking changes: nothing."""

import asyncio
from pathlib import Path

import httpx
import pytest

from fakes.engine import IMAGE, FakeEngine
from fakes.runtime import asynchronous, serving
from skyrl_train.contracts.sandbox.wire import ALLOCATOR, State
from skyrl_train.sandbox.engine import EngineError, EngineUnsureError


@asynchronous
async def test_a_session_from_start_to_stop(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        begun = await server.start("s1")
        assert (begun["status"], begun["pod_status"]) == ("running", "ready")
        assert await server.session("s1") == begun
        ended = (await server.do("stop", begun["runtime_id"])).json()
        assert (ended["status"], ended["pod_status"]) == ("stopped", "failed")
        assert server.engine.standing == {}
        assert server.admission.slots.used == 0
        assert (await server.do("stop", begun["runtime_id"])).status_code == 200


@asynchronous
async def test_one_session_asked_for_many_times_at_once_is_one_sandbox(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        answers = await asyncio.gather(*(server.start("s1") for _ in range(20)))
        assert {answer["runtime_id"] for answer in answers} == set(server.engine.standing)
        assert len(server.engine.standing) == 1


@asynchronous
async def test_one_session_of_two_images_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.start("s1")
        answer = await server.client.post("/start", json={"image": "localhost/other", "session_id": "s1"})
        assert (answer.status_code, answer.json()) == (
            409,
            {"detail": f"session s1 already runs {IMAGE}, not localhost/other; use another session_id"},
        )


@asynchronous
async def test_a_stopped_session_starts_anew(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        first = await server.start("s1")
        await server.do("stop", first["runtime_id"])
        second = await server.start("s1")
        assert second["runtime_id"] != first["runtime_id"]
        assert (await server.session("s1"))["runtime_id"] == second["runtime_id"]


@asynchronous
async def test_the_sandbox_gets_its_limits_its_key_and_no_entry_point_of_the_image(tmp_path: Path) -> None:
    async with serving(tmp_path, cpus=2, memory_mib=100, pids=50) as server:
        begun = await server.start("s1", resource_factor=2, environment={"A": "1", "SESSION_API_KEY": "mine"})
        spec = server.engine.standing[begun["runtime_id"]].spec
        assert (spec.cpus, spec.memory_mib, spec.pids, spec.network) == (4, 200, 100, False)
        assert spec.environment == {**ALLOCATOR, "A": "1", "OH_SESSION_API_KEYS_0": begun["session_api_key"]}
        assert spec.command[0] == "/usr/bin/python3"
        assert begun["session_api_key"] != server.client.headers["X-API-Key"]


@asynchronous
async def test_pause_and_resume_may_be_said_twice_and_the_port_says_503_meanwhile(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, httpx.AsyncClient() as outside:
        begun = await server.start("s1")
        for _ in range(2):
            assert (await server.do("pause", begun["runtime_id"])).json()["status"] == "paused"
        answer = await outside.get(f"{begun['url']}/health")
        assert (answer.status_code, answer.json()) == (503, {"detail": "the sandbox is paused"})
        for _ in range(2):
            assert (await server.do("resume", begun["runtime_id"])).json()["pod_status"] == "ready"
        assert (await outside.get(f"{begun['url']}/health")).status_code == 200


@asynchronous
async def test_an_engine_that_refuses_fails_the_session_with_its_words(tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.fail["start"] = [EngineError("no space left on device")]
    async with serving(tmp_path, engine) as server:
        begun = await server.start("s1")
        assert (begun["pod_status"], begun["pod_logs"]) == ("failed", "no space left on device")
        await server.until(lambda: server.admission.slots.used == 0)


@asynchronous
async def test_a_lost_answer_leaves_one_sandbox(tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.after["start"] = [EngineUnsureError("Podman's service is gone")]
    async with serving(tmp_path, engine) as server:
        begun = await server.start("s1")
        assert (begun["pod_status"], begun["restart_count"]) == ("ready", 1)
        assert begun["restart_reasons"] == ["again: Podman's service is gone"]
        assert list(engine.standing) == [begun["runtime_id"]]


@asynchronous
async def test_a_sandbox_that_dies_is_told_at_once_with_its_cause(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        begun = await server.start("s1")
        server.engine.kill(begun["runtime_id"])
        await server.until(lambda: server.engine.standing == {})
        found = await server.session("s1")
        assert (found["status"], found["pod_status"]) == ("stopped", "failed")
        assert found["pod_logs"].splitlines() == [
            "the sandbox ended: killed by SIGKILL (exit status 137)",
            f"the last words of {begun['runtime_id']}",
        ]


@asynchronous
async def test_a_sandbox_that_never_answers_fails_at_its_limit(tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.healthy = False
    async with serving(tmp_path, engine, start_limit_s=0.05) as server:
        begun = await server.start("s1")
        assert begun["pod_logs"].startswith("not ready within 0.05 s (starting)")
        await server.until(lambda: engine.standing == {})


@asynchronous
async def test_a_start_can_be_stopped_before_it_is_ready(tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.healthy = False
    async with serving(tmp_path, engine, hold_s=0) as server:
        begun = await server.start("s1")
        assert begun["pod_status"] in ("pending", "running")
        await server.until(lambda: engine.standing != {})
        assert (await server.do("stop", begun["runtime_id"])).status_code == 200
        assert engine.standing == {}


@asynchronous
async def test_an_absent_image_is_pulled_or_named(tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.registry.add("docker.io/known/image:1")
    async with serving(tmp_path, engine) as server:
        assert (await server.start("s1", image="docker.io/known/image:1"))["pod_status"] == "ready"
        absent = await server.start("s2", image="docker.io/unknown/image:1")
        assert absent["pod_logs"] == "docker.io/unknown/image:1: manifest unknown"
        never = await server.start("s3", image="docker.io/unknown/image:1", image_pull_policy="Never")
        assert "image_pull_policy is Never" in never["pod_logs"]


@asynchronous
async def test_a_disk_that_takes_no_entry_starts_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        server.store.records._disk.execute("PRAGMA query_only = 1")
        answer = await server.client.post("/start", json={"image": IMAGE, "session_id": "s1"})
        assert answer.status_code == 503
        assert "cannot be written" in answer.json()["detail"]
        assert (server.engine.standing, server.admission.slots.used) == ({}, 0)
        server.store.records._disk.execute("PRAGMA query_only = 0")


@pytest.mark.parametrize("change", ["pause", "resume"])
@asynchronous
async def test_a_session_that_is_stopped_during_a_change_stays_stopped(tmp_path: Path, change: str) -> None:
    async with serving(tmp_path) as server:
        name = (await server.start("s1"))["runtime_id"]
        if change == "resume":
            await server.do("pause", name)
        held = server.engine.hold[change] = asyncio.Event()
        changing = asyncio.create_task(server.do(change, name))
        await server.until(lambda: f"{change} {name}" in server.engine.calls)
        stopping = asyncio.create_task(server.do("stop", name))
        await server.until(lambda: server.store.current(name).removal)
        held.set()
        assert [(await each).json()["status"] for each in (changing, stopping)] == ["stopped", "stopped"]
        assert (server.engine.standing, server.admission.slots.used) == ({}, 0)


@asynchronous
async def test_a_sandbox_that_dies_during_a_pause_stays_dead(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        name = (await server.start("s1"))["runtime_id"]
        held = server.engine.hold["pause"] = asyncio.Event()
        pausing = asyncio.create_task(server.do("pause", name))
        await server.until(lambda: f"pause {name}" in server.engine.calls)
        server.engine.kill(name)
        await server.until(lambda: not server.store.current(name).live)
        held.set()
        await pausing
        assert server.store.current(name).state is State.FAILED
        await server.until(lambda: server.admission.slots.used == 0)


@asynchronous
async def test_a_prewarmed_sandbox_that_is_paused_keeps_the_session_that_took_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.client.post("/prewarm", json={"image": IMAGE})
        await server.until(lambda: [record.state for record in server.store.records.live()] == [State.READY])
        (warm,) = server.store.records.live()
        held = server.engine.hold["pause"] = asyncio.Event()
        pausing = asyncio.create_task(server.do("pause", warm.runtime_id))
        await server.until(lambda: f"pause {warm.runtime_id}" in server.engine.calls)
        await server.start("s1")
        held.set()
        await pausing
        assert server.store.current(warm.runtime_id).session_id == "s1"
