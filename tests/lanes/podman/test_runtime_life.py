"""The server over a real Podman: one sandbox's life, a killed server, an orderly end."""

import contextlib
import os
import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from lanes.podman.conftest import NewLab
from lanes.podman.lab import state_of, wait_until
from lanes.podman.runtime import SETTINGS, Server, agent, say, start

pytestmark = pytest.mark.podman
STALE = "http://127.0.0.1:1\nlog line\n"


@pytest.fixture
def stocked_server(new_lab: NewLab, image_archive: Path) -> Iterator[Server]:
    """Not started; its store holds the image."""
    lab = new_lab()
    server = Server(lab).stock(image_archive)
    yield server
    server.close()
    lab.close()


@pytest.fixture
def server(stocked_server: Server) -> Server:
    return stocked_server.up()


def until_state(client: httpx.Client, session_id: str, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    wait_until(lambda: wanted(client.get(f"/sessions/{session_id}").json()))
    return dict(client.get(f"/sessions/{session_id}").json())


def test_a_sandbox_from_start_to_stop(server: Server) -> None:
    client = server.client()
    begun = start(client, "s1", environment={"GREETING": "hello"})
    assert (begun["status"], begun["pod_status"]) == ("running", "ready"), begun["pod_logs"]
    said = say(begun, "echo $GREETING $OH_SESSION_API_KEYS_0; id -u; cat /proc/net/dev /proc/self/status")
    words = said["stdout"].splitlines()
    assert words[:2] == ["hello", "0"]
    assert "NoNewPrivs:\t1" in words
    devices = [line.split(":")[0].strip() for line in words if ":" in line and "\t" not in line]
    assert devices == ["lo"]
    with agent(begun) as inner:
        uploaded = inner.post("/api/file/upload?path=/tmp/a", files={"file": b"\0bytes\xff"})
        assert uploaded.status_code == 200, uploaded.text
        assert inner.get("/api/file/download?path=/tmp/a").content == b"\0bytes\xff"
        wrong = inner.get("/api/file/download?path=/tmp/a", headers={"X-Session-API-Key": server.key})
        assert wrong.status_code == 401
    answer = client.post("/stop", json={"runtime_id": begun["runtime_id"]})
    assert answer.json()["status"] == "stopped"
    assert server.podman("ps", "-aq").stdout == ""


def test_a_paused_sandbox_stands_still_and_goes_on(server: Server) -> None:
    client = server.client()
    begun = start(client, "s1")
    say(begun, "(while true; do echo x >> /tmp/ticks; sleep 0.01; done) > /dev/null 2>&1 &")
    change = {"runtime_id": begun["runtime_id"]}
    assert client.post("/pause", json=change).json()["status"] == "paused"
    with agent(begun) as inner:
        assert inner.get("/health").status_code == 503
    server.kill()  # what is paused is found paused
    client = server.up().client()
    assert client.get("/sessions/s1").json()["status"] == "paused"
    assert client.post("/resume", json=change).json()["pod_status"] == "ready"
    assert say(begun, "echo on")["stdout"] == "on\n"


def test_a_killed_sandbox_is_told_with_its_cause(server: Server) -> None:
    client = server.client()
    begun = start(client, "s1")
    pid = int(server.podman("inspect", "-f", "{{.State.Pid}}", begun["runtime_id"]).stdout)
    os.kill(pid, signal.SIGKILL)
    ended = until_state(client, "s1", lambda told: told["pod_status"] == "failed")
    assert ended["pod_logs"].startswith("the sandbox ended: killed by SIGKILL (exit status 137)")
    assert "sandboxd: version" in ended["pod_logs"]
    wait_until(lambda: server.podman("ps", "-aq").stdout == "")


def test_a_server_that_was_killed_comes_back_with_its_sandboxes(server: Server) -> None:
    client = server.client()
    begun, url, key = start(client, "s1"), server.url, server.key
    server.kill()
    server.up()
    assert (server.url, server.key) == (url, key)
    again = start(server.client(), "s1")
    assert {name: again[name] for name in ("runtime_id", "url", "session_api_key")} == {
        name: begun[name] for name in ("runtime_id", "url", "session_api_key")
    }
    assert say(again, "echo here")["stdout"] == "here\n"
    assert len(server.podman("ps", "-q").stdout.split()) == 1


def test_a_killed_service_comes_back_and_no_sandbox_is_lost(server: Server) -> None:
    client = server.client()
    begun = start(client, "s1")
    for pid in server.left():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
            if b"service" in file.read().split(b"\0"):
                os.kill(pid, signal.SIGKILL)
    assert say(begun, "echo here")["stdout"] == "here\n"
    assert start(client, "s2")["pod_status"] == "ready"
    assert [entry["event"] for entry in client.get("/events").json()["events"]].count("service ended") == 1


def test_an_orderly_end_leaves_nothing(server: Server) -> None:
    client = server.client()
    for name in ("s1", "s2", "s3"):
        start(client, name)
    key = server.job_dir / "runtime_api_key.txt"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert server.end() == 0
    assert not (server.job_dir / "runtime_ready.flag").exists()
    assert server.left() == []
    assert server.podman("ps", "-aq").stdout == ""


def test_stale_files_of_an_earlier_server_are_gone_before_anything_is_done(stocked_server: Server) -> None:
    stocked_server.job_dir.mkdir()
    paths = [stocked_server.job_dir / name for name in ("runtime_ready.flag", "runtime_url.txt")]
    for path in paths:
        path.write_text(STALE)
    stocked_server.up(wait=False)
    wait_until(lambda: not any(map(is_stale, paths)))
    stocked_server.wait_ready()
    assert stocked_server.url.startswith("http://127.0.0.1:")
    assert stocked_server.url.count("\n") == 0


def is_stale(path: Path) -> bool:
    """Gone, or another's by now: between the two it may be there for less than a look."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_text() == STALE
    return False


def test_a_second_server_of_one_job_is_refused(server: Server) -> None:
    other = Server(server.lab)
    other.up(wait=False)
    wait_until(lambda: state_of(other.pid) in ("", "Z"))
    assert other.zygote is not None
    other.zygote.close()
    assert f"another runtime server of this job (process {server.pid}) holds" in server.log
    assert start(server.client(), "s1")["pod_status"] == "ready"


def test_what_a_client_left_is_taken_away(stocked_server: Server) -> None:
    from dataclasses import replace

    stocked_server.settings = replace(SETTINGS, idle_limit_s=1.0, reap_every_s=0.2)
    client = stocked_server.up().client()
    start(client, "s1")
    wait_until(lambda: stocked_server.podman("ps", "-aq").stdout == "")


def test_a_store_that_lost_its_namespace_serves_again(server: Server) -> None:
    """As an out-of-memory killer or a careless pkill leaves it: nothing of Podman's lives, but the server."""
    client = server.client()
    begun = [start(client, name)["session_id"] for name in ("s1", "s2")]
    killed = server.left()
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    for name in begun:
        ended = until_state(client, name, lambda told: told["pod_status"] == "failed")
        assert ended["pod_logs"].startswith("the sandbox "), ended
    tried: list[dict[str, Any]] = []

    def serves() -> bool:
        """A start while Podman's service comes back may fail, with its cause; the next ones do not."""
        tried.append(start(client, f"again{len(tried)}"))
        assert tried[-1]["pod_status"] == "ready" or tried[-1]["pod_logs"], tried
        return tried[-1]["pod_status"] == "ready"

    wait_until(serves)
    assert say(tried[-1], "echo here")["stdout"] == "here\n"
    wait_until(lambda: len(server.podman("ps", "-aq").stdout.split()) == 1)
    assert server.end() == 0
    assert server.left() == []
