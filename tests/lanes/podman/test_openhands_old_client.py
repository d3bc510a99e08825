"""The real workspace client of OpenHands 1.8.2, which writes files' paths into the routes (RUN009), over a real Podman."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanes.podman.conftest import NewLab
from lanes.podman.lab import IMAGE
from lanes.podman.old_client import CONTENT
from lanes.podman.runtime import Server

pytestmark = [pytest.mark.podman, pytest.mark.openhands]
OLD = Path(sys.prefix) / "openhands-1.8.2"
"""The two packages of that version without their dependencies, which are those of today's (.ci/python-lanes)."""
CLIENT = Path(__file__).with_name("old_client.py")


@pytest.fixture
def server(new_lab: NewLab, image_archive: Path) -> Iterator[Server]:
    lab = new_lab()
    server = Server(lab).stock(image_archive)
    yield server.up()
    server.close()
    lab.close()


@pytest.mark.skipif(not OLD.is_dir(), reason=f"the lane wants openhands-workspace 1.8.2 in {OLD}")
def test_commands_and_files_of_a_client_of_another_age(server: Server, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(OLD), "LITELLM_LOCAL_MODEL_COST_MAP": "True", "no_proxy": "*"}
    words = [sys.executable, str(CLIENT), server.url, server.key, IMAGE, str(tmp_path)]
    ran = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert json.loads(ran.stdout.splitlines()[-1]) == {
        "version": "1.8.2",
        "command": [3, "out\n"],
        "upload": [True, len(CONTENT), None],
        "copied": [0, ""],
        "download": [True, True, None],
        "absent": [False, True],
    }
    assert server.podman("ps", "-aq").stdout == ""
