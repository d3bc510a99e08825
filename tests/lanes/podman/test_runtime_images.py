"""The real agent server in sandboxes of a real Podman, mounted and built in; images out of archives; kills in a build.

What stands for the real server is in `stand_in`.
"""

import base64
import contextlib
import io
import json
import os
import signal
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanes.podman.conftest import NewLab
from lanes.podman.lab import IMAGE, Lab, state_of, wait_until
from lanes.podman.runtime import SETTINGS, Server, agent, say, start
from lanes.podman.stand_in import stand_in_bundle
from skyrl_train.config.sections.sandbox import SandboxSection
from skyrl_train.sandbox.runtime.podman.previous_server import MARK
from skyrl_train.sandbox.server_bundle import ServerBundle

pytestmark = pytest.mark.podman
ABSENT = "docker.io/skyrl/one:1"
COMMAND = "/usr/local/bin/openhands-agent-server --port 60000"


@pytest.fixture(scope="module")
def bundle(workshop: Path) -> ServerBundle:
    return stand_in_bundle(workshop)


@pytest.fixture
def archive(new_lab: NewLab, image_archive: Path, workshop: Path) -> Path:
    """The lane's image under the name of a data set's."""
    directory = workshop / "archives"
    if not directory.exists():
        lab = new_lab()
        assert lab.podman("load", "-q", "-i", str(image_archive)).returncode == 0
        assert lab.podman("tag", IMAGE, ABSENT).returncode == 0
        assert lab.podman("save", "-q", "-o", f"{lab.base}/home/one.tar", ABSENT).returncode == 0
        directory.mkdir()
        (lab.base / "home" / "one.tar").rename(directory / "docker.io_skyrl_one_1.tar")
        (directory / "docker.io_skyrl_one_1.tar").chmod(0o644)
        lab.close()
    return directory


@pytest.fixture
def lab(new_lab: NewLab) -> Iterator[Lab]:
    made = new_lab()
    yield made
    made.close()


@pytest.fixture
def serving(lab: Lab, image_archive: Path) -> Iterator[Server]:
    """Not started; a test says what its sandboxes are to be."""
    server = Server(lab).stock(image_archive)
    yield server
    server.close()


def events(server: Server) -> list[dict[str, object]]:
    return [dict(entry) for entry in server.client().get("/events").json()["events"]]


def named(server: Server, name: str) -> list[dict[str, object]]:
    return [entry for entry in events(server) if entry["event"] == name]


def test_the_real_server_is_mounted_into_an_image_that_has_nothing(serving: Server, bundle: ServerBundle) -> None:
    serving.sandbox = SandboxSection(agent_server=bundle.directory)
    client = serving.up().client()
    begun = start(client, "s1", command=COMMAND)
    assert begun["pod_status"] == "ready", begun["pod_logs"]
    done = say(begun, "cat /proc/1/cmdline; echo x > /opt/skyrl/agent-server/run.py")
    words = done["stdout"].split("\0")
    assert words[words.index("--run") + 1] == "--"
    assert words[-5:-1] == ["--host", "0.0.0.0", "--port", "60000"]
    assert done["exit_code"] != 0  # read-only
    assert [entry["name"] for entry in named(serving, "agent server")] == ["openhands-agent-server 1.58.0, mounted"]


def test_the_real_server_is_built_in_once_for_all_who_ask(serving: Server, bundle: ServerBundle) -> None:
    serving.sandbox = SandboxSection(inject="build", agent_server=bundle.directory)
    client = serving.up().client()
    client.post("/prewarm", json={"image": IMAGE, "count": 3, "command": COMMAND})
    begun = start(client, "s1", image=IMAGE, command=COMMAND)
    assert begun["pod_status"] == "ready", begun["pod_logs"]
    with agent(begun) as inner:
        assert inner.get("/health").json()["status"] == "ok"
    built = named(serving, "image built")
    assert [(entry["image"], bool(entry["seconds"])) for entry in built] == [(IMAGE, True)]
    serving.kill()
    client = serving.up().client()  # the store remembers
    assert start(client, "s2", command=COMMAND)["pod_status"] == "ready"
    assert named(serving, "image built") == []
    derived = serving.podman("images", "-q", "localhost/skyrl-derived").stdout.split()
    assert len(derived) == 1


def test_images_come_out_of_the_archive_when_a_session_wants_them(serving: Server, archive: Path) -> None:
    serving.sandbox = SandboxSection(image_archive=str(archive))
    client = serving.up().client()
    begun = start(client, "s1", image="skyrl/one:1")
    assert begun["pod_status"] == "ready", begun["pod_logs"]
    assert [entry["image"] for entry in named(serving, "image loaded")] == [ABSENT]
    failed = start(client, "s2", image="skyrl/two:1")
    assert failed["pod_logs"].startswith(
        f"image skyrl/two:1 cannot be had: not in the store, and {archive} holds no archive of it"
    )
    assert len(named(serving, "image failed")) == 1


def test_a_server_killed_in_a_build_leaves_nothing_that_the_next_one_takes(
    serving: Server, bundle: ServerBundle
) -> None:
    serving.sandbox = SandboxSection(inject="build", agent_server=bundle.directory)
    serving.settings = replace(SETTINGS, hold_s=0.1, start_limit_s=120.0)
    client = serving.up().client()
    start(client, "s1", command=COMMAND)
    wait_until(lambda: bool(named(serving, "image building")))
    pid = builder(serving)
    serving.kill()
    serving.settings = replace(SETTINGS, start_limit_s=120.0)
    client = serving.up().client()
    wait_until(lambda: state_of(pid) in ("", "Z"))
    wait_until(lambda: client.get("/sessions/s1").json()["pod_status"] == "ready")
    assert named(serving, "image built")
    assert serving.end() == 0
    external = json.loads(serving.podman("ps", "--all", "--external", "--format", "json").stdout or "[]")
    assert external == []
    assert serving.podman("images", "--filter", "dangling=true", "-q").stdout == ""


def packed(recipe: str) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, text in (("./Dockerfile", recipe), ("./added", "of the context")):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return base64.b64encode(made.getvalue())


def built(server: Server, recipe: str, image: str) -> dict[str, Any]:
    client = server.client()
    form = [("context", ("context.tar.gz", packed(recipe))), ("target_image", (None, image))]
    answer = client.post("/build", files=form)
    assert answer.status_code == 202, answer.text
    told: dict[str, Any] = {}

    def ended() -> bool:
        told.update(client.get("/build_status", params={"build_id": answer.json()["build_id"]}).json())
        return told["status"] != "IN_PROGRESS"

    wait_until(ended)
    return told


def test_a_client_has_an_image_built_and_starts_it(serving: Server) -> None:
    serving.up()
    recipe = f"FROM {IMAGE}\nCOPY added /added\nRUN sh -c 'echo of the build > /made; cat /proc/net/dev | id'\n"
    told = built(serving, recipe, "localhost/runtime:oh_1")
    assert told["status"] == "SUCCESS", told
    begun = start(serving.client(), "s1", image=told["image"])
    assert begun["pod_status"] == "ready", begun["pod_logs"]
    assert say(begun, "cat /added /made")["stdout"] == "of the contextof the build\n"
    failed = built(serving, f"FROM {IMAGE}\nRUN sh -c 'echo why it failed; exit 9'\n", "localhost/runtime:oh_2")
    assert failed["status"] == "FAILURE"
    assert "why it failed" in failed["error"]
    absent = built(serving, "FROM localhost/absent:1\n", "localhost/runtime:oh_3")
    assert "localhost/absent:1" in absent["error"]
    assert serving.end() == 0
    names = serving.podman("images", "--all", "--format", "{{.Repository}}:{{.Tag}}").stdout.split()
    assert sorted(names) == [IMAGE, "localhost/runtime:oh_1"]
    assert json.loads(serving.podman("ps", "--all", "--external", "--format", "json").stdout or "[]") == []


def builder(server: Server) -> int:
    """The process of the build that runs, stopped in the middle however fast it is."""
    store, mark = Path(server.home().store), f"{MARK}={server.home().run_dir}".encode()
    containers = store / "graph" / "overlay-containers" / "containers.json"
    wait_until(lambda: containers.exists() and "working-container" in containers.read_text())
    found = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and _has(entry, mark)]
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    return max(found, default=0)


def _has(process: Path, mark: bytes) -> bool:
    try:
        return mark in (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
