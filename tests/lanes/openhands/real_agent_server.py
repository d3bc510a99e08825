"""The real agent server as a process, beside a sandboxd: for the tests that hold one against the other."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from lanes.ports import held_ports
from sandboxd_process import KEY

_START_S = 300.0


@contextlib.contextmanager
def real_agent_server(directory: Path) -> Iterator[httpx.Client]:
    """Its state is in the directory; it takes some 8 s to start."""
    with held_ports(1) as (port,), _process(directory, port) as client:
        yield client


@contextlib.contextmanager
def _process(directory: Path, port: int) -> Iterator[httpx.Client]:
    env = {
        **os.environ,
        "OH_ENABLE_VSCODE": "false",
        "OH_SESSION_API_KEYS_0": KEY,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OPENHANDS_SUPPRESS_BANNER": "1",
        "HOME": str(directory),
    }
    argv = [sys.executable, "-m", "openhands.agent_server", "--host", "127.0.0.1", "--port", str(port)]
    with (directory / "log").open("w") as log:
        process = subprocess.Popen(argv, env=env, cwd=directory, stdout=log, stderr=log)
    headers = {"X-Session-API-Key": KEY}
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=300, trust_env=False) as client:
            _await_ready(client, process, directory / "log")
            yield client
    finally:
        process.kill()
        process.wait()


def _await_ready(client: httpx.Client, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()[-3000:]
        with contextlib.suppress(httpx.TransportError):
            if client.get("/ready").status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError(log.read_text()[-3000:])
