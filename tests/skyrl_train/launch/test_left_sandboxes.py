"""A trainer that was killed stops none of its sandboxes; its next turn does, before it needs their slots."""

from pathlib import Path

import httpx

from fakes.runtime import KEY, Server, asynchronous, serving
from skyrl_train.launch import left_sandboxes
from skyrl_train.sandbox.client.runtime import RuntimeClient
from skyrl_train.sandbox.runtime.app import application


def client_of(server: Server) -> RuntimeClient:
    app = application(server.runtime, KEY)
    return RuntimeClient("http://runtime", KEY, transport=httpx.ASGITransport(app=app))


@asynchronous
async def test_all_sessions_are_ended_and_their_slots_free(tmp_path: Path) -> None:
    async with serving(tmp_path, slots=2, queue=0) as server, client_of(server) as client:
        await server.start("s1")
        await server.start("s2")
        assert await client.stop_all() == 2
        await server.until(lambda: not server.store.records.live())
        assert (await server.start("s3"))["session_id"] == "s3"


@asynchronous
async def test_where_there_are_none_nothing_is_asked(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, client_of(server) as client:
        assert await client.stop_all() == 0


def test_a_runtime_that_has_not_begun_has_none(tmp_path: Path) -> None:
    assert left_sandboxes.end(str(tmp_path)) == ""


def test_a_runtime_that_does_not_say_where_it_is_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "runtime_ready.flag").touch()
    said = left_sandboxes.end(str(tmp_path))
    assert said.startswith("cannot end the sandboxes from before the restart, which may hold their slots for an hour: ")
