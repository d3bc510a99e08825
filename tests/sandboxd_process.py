"""sandboxd as a real process of its own: from its archive, on a free port, in a directory of the test's."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

from skyrl_train.contracts.sandboxd_api import ALLOCATOR
from skyrl_train.sandbox.sandboxd.bundle import write_zipapp

KEY = "a session key"
_LISTENS = re.compile(r"sandboxd: version \S+ listens on (\S+):(\d+), ")
_SAMPLE = "sandboxd: version 0.1.0 listens on 127.0.0.1:60000, 9.3 ms after its start"


@dataclass
class Sandboxd:
    """Running. `client` sends the key; `stranger` sends none."""

    process: "subprocess.Popen[str]"
    port: int
    client: httpx.Client
    stranger: httpx.Client
    log: list[str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def execute(self, command: str, **more: object) -> dict[str, object]:
        answer = self.client.post("/api/bash/execute_bash_command", json={"command": command, **more})
        assert answer.status_code == 200, answer.text
        told: dict[str, object] = answer.json()
        return told

    def status(self, name: str) -> int:
        """A number out of /proc/PID/status; memory is in KiB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(120)


@contextlib.contextmanager
def running(
    directory: Path, *arguments: str, python: str = sys.executable, env: Mapping[str, str] | None = None
) -> Iterator[Sandboxd]:
    """Started, and ended whatever happens."""
    archive = write_zipapp(directory / "archive")
    temporary = directory / "tmp"
    temporary.mkdir(exist_ok=True)
    given = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "TMPDIR": str(temporary),
        "OH_SESSION_API_KEYS_0": KEY,
        **ALLOCATOR,
    }
    argv = [python, "-I", "-S", "-B", str(archive), "--host", "127.0.0.1", "--port", "0", *arguments]
    process = subprocess.Popen(
        argv, env=given if env is None else dict(env), cwd=directory, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    log = [process.stderr.readline()]
    match = _LISTENS.match(log[0])
    assert match, log[0] + process.stderr.read()
    reader = threading.Thread(target=lambda: log.extend(process.stderr or ()))
    reader.start()
    url, headers = f"http://{match[1]}:{match[2]}", {"X-Session-API-Key": KEY}
    try:
        with (
            httpx.Client(base_url=url, headers=headers, timeout=300, trust_env=False) as client,
            httpx.Client(base_url=url, timeout=300, trust_env=False) as stranger,
        ):
            yield Sandboxd(process, int(match[2]), client, stranger, log)
    finally:
        process.kill()
        process.wait()
        reader.join()
        process.stderr.close()
