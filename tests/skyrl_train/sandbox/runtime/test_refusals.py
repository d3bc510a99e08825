"""Wrong keys, bad names, bodies that are none: refused, logged, and nothing is started."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.engine import IMAGE
from fakes.runtime import KEY, asynchronous, serving
from skyrl_train.sandbox.runtime.keys import same_key

GOOD = {"image": IMAGE, "session_id": "s1"}


@pytest.mark.parametrize("key", [None, "", "wrong", KEY[:-1], KEY + "x", KEY.upper(), "ü" * 8])
@asynchronous
async def test_a_wrong_key_opens_nothing(tmp_path: Path, key: str | None) -> None:
    async with serving(tmp_path) as server:
        del server.client.headers["X-API-Key"]
        headers = {} if key is None else {"X-API-Key": key.encode()}
        for method, path in (("POST", "/start"), ("GET", "/sessions/x"), ("GET", "/nowhere"), ("GET", "/events")):
            answer = await server.client.request(method, path, headers=headers, json=GOOD if method == "POST" else None)
            assert answer.status_code == 401
        assert (await server.client.get("/health", headers=headers)).json() == {"status": "ok"}
        assert server.engine.standing == {}
        assert server.events("refused") == []
        (entry,) = server.runtime.telemetry.events.strangers.last()
        assert (entry["status"], entry["count"]) == (401, 4)


@asynchronous
async def test_the_key_of_a_session_is_no_key_of_the_runtime(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        begun = await server.start("s1")
        answer = await server.client.get("/list", headers={"X-API-Key": begun["session_api_key"]})
        assert answer.status_code == 401


@given(st.text(max_size=40))
def test_only_the_key_is_the_key(text: str) -> None:
    assert same_key(text, KEY) is (text == KEY)
    assert not same_key(text, "")


BODIES: list[tuple[Any, int]] = [
    (b"", 400),
    (b"{", 400),
    (b"[]", 400),
    (b"null", 400),
    (b"[" * 100_000, 400),
    (b'{"image": "a/b", "session_id": "s1", "resource_factor": NaN}', 400),
    (b"\xff\xfe", 400),
    (b'{"image": "x"}', 400),
    (b'{"session_id": "s1"}', 400),
    (b'{"image": "localhost/box:latest", "session_id": "batch"}', 400),
    (b'{"image": "localhost/box:latest", "session_id": "../../etc"}', 400),
    (b'{"image": "localhost/box:latest", "session_id": "a/b"}', 400),
    (b'{"image": "localhost/box:latest", "session_id": "\\ud800"}', 400),
    (b'{"image": "localhost/box:latest", "session_id": "s1", "environment": {"A": 1}}', 400),
    (b'{"image": "localhost/box:latest", "session_id": "s1", "working_dir": "/a/../b"}', 400),
    (b'{"image": "--privileged", "session_id": "s1"}', 400),
    (b'{"image": ["localhost/box:latest"], "session_id": "s1"}', 400),
    (b'{"a": "' + b"x" * (1 << 20) + b'"}', 413),
]


@pytest.mark.parametrize(("body", "status"), BODIES, ids=lambda value: str(value)[:40])
@asynchronous
async def test_a_body_that_cannot_be_used_starts_nothing(tmp_path: Path, body: bytes, status: int) -> None:
    async with serving(tmp_path) as server:
        answer = await server.client.post("/start", content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, list(answer.json())) == (status, ["detail"])
        assert server.engine.calls == ["all"]
        assert [entry["status"] for entry in server.events("refused")] == [status]


@pytest.mark.parametrize(
    "path",
    ["/sessions/..%2f..%2fetc", "/sessions/%2e%2e", "/sessions/a%00b", "/runtime/%2e%2e%2f", "/sessions/" + "a" * 300],
)
@asynchronous
async def test_a_path_out_of_the_routes_leads_nowhere(tmp_path: Path, path: str) -> None:
    async with serving(tmp_path) as server:
        assert (await server.client.get(path)).status_code in (400, 404)


@asynchronous
async def test_the_wrong_method_route_or_kind_of_body(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        assert (await server.client.get("/start")).status_code == 405
        assert (await server.client.get("/nowhere")).status_code == 404
        assert (
            await server.client.post("/start", content=b"a=1", headers={"Content-Type": "text/x"})
        ).status_code == 415
        assert (await server.client.post("/stop", json={"runtime_id": 7})).status_code == 400
        assert (await server.client.post("/stop", json={"runtime_id": "skyrl-unknown"})).status_code == 404
        assert (await server.client.post("/pause", json={"runtime_id": "../x"})).status_code == 400


@asynchronous
async def test_the_small_routes(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        begun = await server.start("s1")
        get = server.client.get
        assert (await get("/sessions/batch?ids=s1,unknown&ids=s1")).json() == [begun, begun]
        assert (await get("/list")).json() == {"runtimes": [begun]}
        assert (await get(f"/runtime/{begun['runtime_id']}")).json() == begun
        assert (await get(f"/image_exists?image={IMAGE}")).json()["exists"] is True
        assert (await get("/image_exists?image=localhost/none")).json() == {"exists": False}
        assert (await get("/registry_prefix")).json() == {"registry_prefix": "docker.io"}
        assert [entry["event"] for entry in (await get("/events")).json()["events"]] == ["up", "start", "ready"]
        assert (await get("/events?after=-1")).status_code == 400
        assert 'skyrl_runtime_sessions{state="ready"} 1.0\n' in (await get("/metrics")).text
        assert set((await get("/openapi.json")).json()["paths"]) >= {"/start", "/sessions/{session_id}"}
