"""What an agent does against the limits of its sandbox and against other sandboxes, each for real in rootless Podman."""

import base64
import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from lanes.attacks.image import TASK_IMAGE
from lanes.attacks.limits import MEMORY, OTHER_PROCESSES, SHARED
from lanes.podman.conftest import NewLab
from lanes.podman.lab import SHORT_S, wait_until
from lanes.podman.runtime import SETTINGS, Server, agent, say, start
from lanes.podman.stand_in import stand_in_bundle
from skyrl_train.config.sections.sandbox import SandboxSection

pytestmark = [pytest.mark.podman, pytest.mark.attacks]
HONEST = "import ctypes, os, subprocess\nos.openpty()\nassert ctypes.CDLL(None).inotify_init() >= 0\nprint(subprocess.run(['sh', '-c', 'echo fine'], capture_output=True, text=True).stdout)\n"  # fmt: skip


def ran(session: dict[str, Any], program: str) -> str:
    """What the program printed; its sandbox may end meanwhile."""
    encoded = base64.b64encode(program.encode()).decode()
    command = f"echo {encoded} | base64 -d >/tmp/program.py && python3 /tmp/program.py"
    with contextlib.suppress(httpx.HTTPError):
        done = say(session, command)
        return f"{done['stdout'] or ''}{done['stderr'] or ''}"
    return "the sandbox ended"


@pytest.fixture
def bystander(server: Server) -> Iterator[dict[str, Any]]:
    client = server.client()
    session = start(client, "bystander", TASK_IMAGE)
    yield session
    assert ran(session, HONEST) == "fine\n\n"
    client.post("/stop", json={"runtime_id": session["runtime_id"]}).raise_for_status()


@pytest.mark.parametrize("name", [*OTHER_PROCESSES, *MEMORY, *SHARED])
def test_a_limit_is_held(server: Server, bystander: dict[str, Any], name: str) -> None:
    client = server.client()
    hostile = start(client, "hostile", TASK_IMAGE)
    said = ran(hostile, {**OTHER_PROCESSES, **MEMORY, **SHARED}[name])
    client.post("/stop", json={"runtime_id": hostile["runtime_id"]})
    assert "WON" not in said, said


def test_segments_that_outlive_all_processes_end_their_sandbox(server: Server, bystander: dict[str, Any]) -> None:
    client = server.client()
    hostile = start(client, "hostile", TASK_IMAGE)
    ran(hostile, MEMORY["segments of System V that nobody has attached"])
    wait_until(lambda: client.get("/sessions/hostile").json()["pod_status"] == "failed")
    assert "segments and files that outlived all processes" in client.get("/sessions/hostile").json()["pod_logs"]


def test_an_agent_server_that_its_agent_stops_ends_in_words(
    new_lab: NewLab, image_archive: Path, workshop: Path
) -> None:
    lab = new_lab()
    made = Server(lab, settings=replace(SETTINGS, silent_limit_s=2.0)).stock(image_archive)
    made.sandbox = SandboxSection(agent_server=stand_in_bundle(workshop).directory)
    try:
        client = made.up().client()
        session = start(client, "hostile")
        with agent(session) as inside, contextlib.suppress(httpx.HTTPError):
            inside.timeout = 5.0
            body = {"command": "kill -STOP -1", "cwd": "/", "timeout": 5}
            inside.post("/api/bash/execute_bash_command", json=body)
        wait_until(lambda: client.get("/sessions/hostile").json()["pod_status"] == "failed", SHORT_S)
        logs = client.get("/sessions/hostile").json()["pod_logs"]
        assert logs.startswith("the agent server has not answered for "), logs
    finally:
        made.close()
        lab.close()
