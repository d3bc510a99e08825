"""The real workspace client of OpenHands drives sessions in containers of a real Podman. Nothing of ours stands in between
but the server and the agent server under test.
"""

import contextlib
import gc
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from lanes.podman.conftest import NewLab
from lanes.podman.lab import IMAGE, User, may_read, wait_until
from lanes.podman.runtime import SETTINGS, Server
from skyrl_train.config.sections.sandbox import SandboxSection
from skyrl_train.sandbox.server_bundle import make_bundle
from skyrl_train.sandbox.server_source import source_of

pytestmark = [
    pytest.mark.podman,
    pytest.mark.openhands,
    pytest.mark.filterwarnings("ignore"),  # of the SDK's dependencies, not ours
]


@pytest.fixture(scope="module", autouse=True)
def _offline() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        patch.setenv("OPENHANDS_SUPPRESS_BANNER", "1")
        for name in ("http_proxy", "HTTP_PROXY"):  # as ENV013 asks; the client has no other way
            patch.delenv(name, raising=False)
        yield


@pytest.fixture
def server(new_lab: NewLab, image_archive: Path) -> Iterator[Server]:
    lab = new_lab()
    server = Server(lab).stock(image_archive)
    yield server.up()
    server.close()
    lab.close()


@pytest.fixture(scope="module")
def agent_server(lane_user: User, workshop: Path) -> str:
    """The real agent server of this test's own environment. Its packages are copied where that user may not read them."""
    packages = sysconfig.get_path("purelib")
    readable = may_read(lane_user, f"{packages}/openhands")
    return make_bundle(source_of(sys.prefix, version=""), workshop / "agent-server", whole=not readable).directory


@pytest.fixture
def real_server(new_lab: NewLab, image_archive: Path, agent_server: str) -> Iterator[Server]:
    """A runtime whose sandboxes get it by a mount."""
    lab = new_lab()
    settings = replace(SETTINGS, memory_mib=4096, pids=512, start_limit_s=240.0, hold_s=20.0)
    server = Server(lab, settings=settings, sandbox=SandboxSection(agent_server=agent_server)).stock(image_archive)
    yield server.up()
    server.close()
    lab.close()


@contextlib.contextmanager
def workspace(server: Server, **options: Any) -> Iterator[Any]:
    """Closed at the end, as its own `with` does; its finaliser runs here, where a fault of it would be seen."""
    from openhands.workspace import APIRemoteWorkspace

    wanted = {"server_image": IMAGE, "session_id": "real", "working_dir": "/tmp", **options}
    made = APIRemoteWorkspace(runtime_api_url=server.url, runtime_api_key=server.key, **wanted)
    with made:
        yield made
    made.reset_client()


def lost(space: Any, command: str) -> None:
    """The client raises, or says so in its answer, by where it was when the connection broke."""
    with contextlib.suppress(httpx.TransportError):
        said = space.execute_command(command, cwd="/tmp", timeout=120)
        assert (said.exit_code, said.timeout_occurred) == (-1, False)


def drive(space: Any, directory: Path) -> None:
    """What a rollout asks of a workspace: commands, their time limit, files both ways, a pause."""
    said = space.execute_command("echo out; echo err >&2; exit 3", cwd="/tmp", timeout=120)
    assert (said.exit_code, said.stdout, said.stderr, said.timeout_occurred) == (3, "out\n", "err\n", False)
    late = space.execute_command("echo before; sleep 60", cwd="/tmp", timeout=1)
    assert late.exit_code == -1  # timeout_occurred says only whose clock was the faster, the client's or the server's
    there, back = directory / "there", directory / "back"
    there.write_bytes(b"\0bytes\xff\r\n--x" * 200_000)
    sent = space.file_upload(str(there), "/tmp/deep/down/inside")
    assert (sent.success, sent.file_size) == (True, there.stat().st_size), sent
    assert space.execute_command("cat /tmp/deep/down/inside > /tmp/copy", cwd="/tmp", timeout=120).exit_code == 0
    got = space.file_download("/tmp/copy", str(back))
    assert got.success, got
    assert back.read_bytes() == there.read_bytes()
    space.pause()
    space.resume()
    assert space.execute_command("echo again", cwd="/tmp", timeout=120).stdout == "again\n"


def test_a_session_with_sandboxd_by_mount(server: Server, tmp_path: Path) -> None:
    with workspace(server) as space:
        assert space.get_server_info()["title"] == "sandboxd"
        drive(space, tmp_path)
        standing = server.podman("ps", "-q").stdout.split()
        assert len(standing) == 1
    assert server.podman("ps", "-aq").stdout == ""
    assert server.client().get("/sessions/real").json()["status"] == "stopped"


def test_a_session_with_the_real_agent_server_by_mount(real_server: Server, tmp_path: Path) -> None:
    """In an image that holds busybox and nothing else: no Python, no bash, no C library."""
    with workspace(real_server) as space:
        info = space.get_server_info()
        assert (info["title"], info["version"]) == ("OpenHands Agent Server", "1.58.0")
        drive(space, tmp_path)
    assert real_server.podman("ps", "-aq").stdout == ""
    assert real_server.client().get("/sessions/real").json()["status"] == "stopped"


def test_a_second_client_finds_what_the_first_left_paused(server: Server) -> None:
    with workspace(server, pause_on_close=True) as first:
        assert first.execute_command("echo kept > /tmp/kept", cwd="/tmp", timeout=120).exit_code == 0
    assert server.client().get("/sessions/real").json()["status"] == "paused"
    with workspace(server) as second:
        assert second.execute_command("cat /tmp/kept", cwd="/tmp", timeout=120).stdout == "kept\n"
    assert server.podman("ps", "-aq").stdout == ""


def test_a_client_of_a_server_that_was_killed_goes_on(server: Server) -> None:
    with workspace(server) as space:
        space.execute_command("echo kept > /tmp/kept", cwd="/tmp", timeout=120)
        server.kill()
        lost(space, "true")
        server.up()
        assert space.execute_command("cat /tmp/kept", cwd="/tmp", timeout=120).stdout == "kept\n"
    assert server.podman("ps", "-aq").stdout == ""


def test_a_sandbox_that_dies_is_told_with_its_cause(server: Server) -> None:
    with workspace(server) as space:
        lost(space, "kill -TERM 1; sleep 60")
        client = server.client()
        wait_until(lambda: client.get("/sessions/real").json()["pod_status"] == "failed")
        found = client.get("/sessions/real").json()
        assert found["pod_logs"].startswith("the sandbox ended: exit status 0"), found


def test_a_wrong_key_and_an_absent_image_are_told(server: Server) -> None:
    from openhands.workspace import APIRemoteWorkspace

    with pytest.raises(httpx.HTTPStatusError, match="401"):
        APIRemoteWorkspace(runtime_api_url=server.url, runtime_api_key="wrong", server_image=IMAGE, session_id="a")
    with pytest.raises(ValueError, match="localhost/none:1 is not in the store and image_pull_policy is Never"):
        APIRemoteWorkspace(
            runtime_api_url=server.url,
            runtime_api_key=server.key,
            server_image="localhost/none:1",
            image_pull_policy="Never",
            session_id="b",
        )
    gc.collect()  # it leaves a connection open where it fails: that is told here, and ignored
    assert server.podman("ps", "-aq").stdout == ""
