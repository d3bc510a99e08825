"""What clients leave behind."""

from pathlib import Path

import httpx

from fakes.engine import FakeEngine
from fakes.runtime import asynchronous, serving


@asynchronous
async def test_a_session_that_nobody_talks_to_is_taken_away(tmp_path: Path) -> None:
    async with serving(tmp_path, idle_limit_s=60) as server:
        kept = await server.start("kept")
        await server.start("left")
        server.clock.time += 59
        async with httpx.AsyncClient() as outside:
            await outside.get(f"{kept['url']}/health")
        server.clock.time += 2
        await server.runtime.reaper.reap()
        await server.until(lambda: len(server.engine.standing) == 1)
        assert (await server.session("kept"))["pod_status"] == "ready"
        assert (await server.session("left"))["pod_logs"] == "left by its client: nobody came for 61 s"


@asynchronous
async def test_a_container_whose_call_was_given_up_is_swept(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        begun = await server.start("s1")
        found = server.engine.standing[begun["runtime_id"]]
        await server.do("stop", begun["runtime_id"])
        server.engine.standing[begun["runtime_id"]] = found  # the engine did late what was given up
        await server.runtime.reaper.reap()
        assert server.engine.standing == {}


@asynchronous
async def test_draining_takes_all_away_and_starts_nothing(tmp_path: Path) -> None:
    engine = FakeEngine()
    async with serving(tmp_path, engine) as server:
        await server.start("s1")
        await server.start("s2")
        server.admission.draining = True
        answer = await server.client.post("/start", json={"image": "localhost/box:latest", "session_id": "s3"})
        assert (answer.status_code, answer.json()["detail"][:29]) == (503, "this runtime is shutting down")
        await server.runtime.drain(5)
        assert engine.standing == {}


@asynchronous
async def test_old_ends_are_forgotten(tmp_path: Path) -> None:
    async with serving(tmp_path, keep_ended=1) as server:
        for name in ("s1", "s2"):
            await server.do("stop", (await server.start(name))["runtime_id"])
        await server.runtime.reaper.reap()
        assert (await server.client.get("/sessions/s1")).status_code == 404
        assert (await server.session("s2"))["status"] == "stopped"
