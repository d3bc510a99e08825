"""Keys over real sockets, with the real agent server behind them: each opens what it was made for, while that lasts."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from fakes.engine import IMAGE
from fakes.runtime import KEY
from fakes.serving import http_server
from skyrl_train.sandbox.runtime.keys import new_key

COMMAND = "/api/bash/execute_bash_command"


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[httpx.Client]:
    with (
        http_server(tmp_path) as url,
        httpx.Client(base_url=url, headers={"X-API-Key": KEY}, trust_env=False, timeout=30) as client,
    ):
        yield client


def start(runtime: httpx.Client, session_id: str) -> tuple[str, str, str]:
    """Its runtime id, URL and key."""
    told = runtime.post("/start", json={"image": IMAGE, "session_id": session_id}).json()
    assert told["pod_status"] == "ready", told
    return told["runtime_id"], told["url"], told["session_api_key"]


def may(url: str, key: str, header: str = "X-Session-API-Key") -> int:
    body = {"command": "echo in", "cwd": "/", "timeout": 10}
    with httpx.Client(trust_env=False, timeout=30) as client:
        return client.post(url + COMMAND, json=body, headers={header: key}).status_code


def test_a_key_that_was_good_once_or_elsewhere_opens_nothing(runtime: httpx.Client) -> None:
    runtime_id, url, key = start(runtime, "s1")
    _, other_url, other_key = start(runtime, "s2")
    assert (may(url, key), may(other_url, other_key)) == (200, 200)
    assert [may(url, other_key), may(url, KEY), may(url, ""), may(url, key, "X-API-Key")] == [401] * 4
    assert runtime.get("/list", headers={"X-API-Key": key}).status_code == 401
    runtime.post("/stop", json={"runtime_id": runtime_id}).raise_for_status()
    again_id, again_url, again_key = start(runtime, "s1")
    assert (again_id == runtime_id, again_key == key) == (False, False)
    assert (may(again_url, key), may(again_url, again_key)) == (401, 200)
    if again_url != url:  # the kernel may give the same port again
        with pytest.raises(httpx.TransportError):
            may(url, key)


def test_no_two_jobs_have_one_key() -> None:
    assert len({new_key() for _ in range(100)}) == 100
    assert min(len(new_key()) for _ in range(100)) >= 43
