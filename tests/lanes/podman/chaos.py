"""What can befall a runtime, one function each: done to a server under load, undone before it returns."""

import contextlib
import fcntl
import os
import random
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from lanes.podman.lab import IMAGE, owner_of, state_of
from lanes.podman.runtime import Server

HELD_S = 1.5
Blow = Callable[[Server], None]


def kill_server(server: Server) -> None:
    server.kill()
    server.up()


def kill_service(server: Server) -> None:
    for pid in server.left():
        with contextlib.suppress(OSError):
            if b"service" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                os.kill(pid, signal.SIGKILL)


def kill_sandbox(server: Server) -> None:
    files = list(Path(server.home().run_dir).glob("containers/*/*/userdata/pidfile"))
    for file in random.sample(files, min(1, len(files))):
        with contextlib.suppress(OSError, ValueError):
            pid = int(file.read_text())
            if owner_of(pid) == server.lab.user.uid:
                os.kill(pid, signal.SIGKILL)


def lose_a_client(server: Server) -> None:
    """In the middle of a request, and before its answer."""
    parts = urlsplit(server.url)
    body = f'{{"image": "{IMAGE}", "session_id": "lost-{time.monotonic_ns()}"}}'
    head = f"POST /start HTTP/1.1\r\nHost: x\r\nX-API-Key: {server.key}\r\nContent-Type: application/json\r\n"
    whole = f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
    for sent in (whole, whole[: len(whole) // 2]):
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=5) as connection:
            connection.sendall(sent)


def fill_disk(server: Server) -> None:
    file = server.base / "filler"
    try:
        with contextlib.suppress(OSError), file.open("wb", buffering=0) as out:
            while True:
                out.write(b"\0" * (1 << 20))
        time.sleep(HELD_S)
    finally:
        file.unlink(missing_ok=True)


def hold_lock(server: Server) -> None:
    names = ("storage.lock", "overlay-containers/containers.lock", "overlay-layers/layers.lock")
    path = Path(server.home().store) / "graph" / random.choice(names)
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(OSError):
            server.lab.user.become()
            with path.open("r+b") as file:
                fcntl.lockf(file, fcntl.LOCK_EX)
                time.sleep(HELD_S)
        os._exit(0)
    os.waitpid(pid, 0)


def alive(pid: int) -> bool:
    return state_of(pid) not in ("", "Z")


BLOWS: tuple[Blow, ...] = (kill_server, kill_service, kill_sandbox, lose_a_client, fill_disk, hold_lock)
