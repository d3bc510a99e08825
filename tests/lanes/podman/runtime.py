"""A real server over a store of the lab's user. It is a fork of this process: that user may not run our interpreter."""

import asyncio
import contextlib
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx

from lanes.podman.lab import IMAGE, SHORT_S, Lab, state_of, strays, wait_until
from skyrl_doctor.cli.app import dispatch
from skyrl_train.config.sections.sandbox import SandboxSection
from skyrl_train.sandbox.runtime.podman.store_check import CHECKS, Examined, read_report
from skyrl_train.sandbox.runtime.podman.store_directory import Home, made_home
from skyrl_train.sandbox.runtime.serve import Options, serve
from skyrl_train.sandbox.runtime.settings import RuntimeSettings

SETTINGS = RuntimeSettings(slots=8, hold_s=120.0, start_limit_s=240.0, memory_mib=256, pids=64, reap_every_s=1.0)
UP_S = 300.0
_LOG = 6000


async def forked_doctor(environ: Mapping[str, str]) -> Examined:
    """As `by_doctor`, in a fork in place of a new interpreter."""
    return read_report(await asyncio.to_thread(_report, environ))


def _report(environ: Mapping[str, str]) -> str:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.environ.clear()
        os.environ.update(environ)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.suppress(BaseException):
            words = ["--role", "runtime", "--format", "json", "--select", ",".join(CHECKS), "--deadline", "30"]
            dispatch(["preflight", *words])
        with open(writer, "w", encoding="utf-8") as pipe:
            pipe.write(out.getvalue())
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return text


async def nobody_looks(_environ: Mapping[str, str]) -> Examined:
    return Examined()


class Zygote:
    """Forks servers. It is itself forked before a test has threads: a lock that one of them held would stay locked."""

    def __init__(self, work: Callable[[], None]) -> None:
        ours, theirs = socket.socketpair()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            ours.close()
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
            while theirs.recv(1):
                child = os.fork()
                if child == 0:
                    theirs.close()
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    work()
                theirs.sendall(child.to_bytes(4, "big"))
            os._exit(0)
        theirs.close()
        self._channel = ours

    def fork(self) -> int:
        self._channel.sendall(b"x")
        return int.from_bytes(self._channel.recv(4, socket.MSG_WAITALL), "big")

    def close(self) -> None:
        self._channel.close()
        os.waitpid(self.pid, 0)


def _become_server(server: "Server") -> None:
    status = 70
    try:
        os.setsid()
        log = os.open(server.lab.base / "server.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        server.before()
        server.lab.user.become()
        os.chdir("/")
        status = _serve(server)
    except BaseException as error:  # noqa: BLE001 -- the last words of a process
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        with contextlib.suppress(OSError):
            (server.lab.base / "status").write_text(str(status))
        os._exit(status)


@dataclass
class Server:
    """Started by `up`; killed or ended as a test likes, and started again over the same store."""

    lab: Lab
    settings: RuntimeSettings = SETTINGS
    doctor: bool = True
    drain_s: float = 20.0
    sandbox: SandboxSection = field(default_factory=SandboxSection)
    before: Callable[[], None] = lambda: None
    """Done by the server's process while it is still ours: what bounds it from outside."""
    pid: int = 0
    clients: list[httpx.Client] = field(default_factory=list)
    zygote: "Zygote | None" = None

    @property
    def base(self) -> Path:
        return self.lab.base / "s"

    @property
    def job_dir(self) -> Path:
        return self.lab.base / "job"

    @property
    def log(self) -> str:
        with contextlib.suppress(FileNotFoundError):
            return (self.lab.base / "server.log").read_text(errors="replace")
        return ""

    def home(self) -> Home:
        """The store, made if it is not there; the server may be up."""
        self.base.mkdir(exist_ok=True)
        os.chown(self.base, self.lab.user.uid, self.lab.user.gid)

        def find() -> Home:
            return made_home(dict(self.lab.env), base=str(self.base), uid=os.getuid(), kernel=os.uname().release)

        found: Home = self.lab.child(find)
        return found

    def podman(self, *words: str, limit_s: float = SHORT_S) -> "subprocess.CompletedProcess[str]":
        """In the server's store."""
        return replace(self.lab, env=dict(self.home().environ)).podman(*words, limit_s=limit_s)

    def stock(self, archive: Path) -> "Server":
        done = self.podman("load", "-q", "-i", str(archive))
        assert done.returncode == 0, done.stdout
        return self

    def up(self, *, wait: bool = True) -> "Server":
        for path in (self.base, self.job_dir):
            path.mkdir(exist_ok=True)
            os.chown(path, self.lab.user.uid, self.lab.user.gid)
        if self.zygote is None:
            self.zygote = Zygote(lambda: _become_server(self))
        self.pid = self.zygote.fork()
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self) -> None:
        flag, end = self.job_dir / "runtime_ready.flag", time.monotonic() + UP_S
        while not flag.exists():
            assert self.alive(), self.log[-3000:]
            assert time.monotonic() < end, self.log[-3000:]
            time.sleep(0.02)

    def alive(self) -> bool:
        return state_of(self.pid) not in ("", "Z")

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        wait_until(lambda: not self.alive())
        (self.job_dir / "runtime_ready.flag").unlink(missing_ok=True)

    def end(self, limit_s: float = SHORT_S) -> int:
        """As Slurm asks; its exit status."""
        os.kill(self.pid, signal.SIGTERM)
        wait_until(lambda: not self.alive(), limit_s)
        return int((self.lab.base / "status").read_text())

    @property
    def url(self) -> str:
        return (self.job_dir / "runtime_url.txt").read_text().strip()

    @property
    def key(self) -> str:
        return (self.job_dir / "runtime_api_key.txt").read_text().strip()

    def client(self, limit_s: float = SHORT_S) -> httpx.Client:
        made = httpx.Client(base_url=self.url, headers={"X-API-Key": self.key}, timeout=limit_s, trust_env=False)
        self.clients.append(made)
        return made

    def left(self) -> list[int]:
        """Processes of its store: Podman's, conmons, what keeps the namespace."""
        store = Path(self.home().store)
        return [pid for pid in strays(store) if state_of(pid) not in ("", "Z")]

    def close(self) -> None:
        sys.stdout.write(self.log[-_LOG:])  # shown with a test that failed
        for client in self.clients:
            client.close()
        if self.pid and self.alive():
            with contextlib.suppress(AssertionError, OSError):
                self.end(60.0)
        if self.pid and self.alive():
            os.kill(self.pid, signal.SIGKILL)
        for pid in self.left():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.zygote is not None:
            self.zygote.close()
        shutil.rmtree(self.base, ignore_errors=True)


def _serve(server: Server) -> int:
    import logging

    log = os.fdopen(2, "w", buffering=1, closefd=False)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=log, force=True)
    options = Options(
        job_dir=str(server.job_dir),
        settings=server.settings,
        environ=dict(server.lab.env),
        base=str(server.base),
        drain_s=server.drain_s,
        sandbox=server.sandbox,
        examine=forked_doctor if server.doctor else nobody_looks,
    )
    return asyncio.run(serve(options))


@contextlib.contextmanager
def agent(session: Mapping[str, Any]) -> Iterator[httpx.Client]:
    """A client of a sandbox's own server."""
    headers = {"X-Session-API-Key": session["session_api_key"]}
    with httpx.Client(base_url=session["url"], headers=headers, timeout=SHORT_S, trust_env=False) as client:
        yield client


def say(session: Mapping[str, Any], command: str) -> dict[str, Any]:
    """What a command printed, and how it ended."""
    with agent(session) as client:
        body = {"command": command, "cwd": "/", "timeout": 120}
        answer = client.post("/api/bash/execute_bash_command", json=body)
    answer.raise_for_status()
    return dict(answer.json())


def start(client: httpx.Client, session_id: str, image: str = IMAGE, **more: Any) -> dict[str, Any]:
    answer = client.post("/start", json={"image": image, "session_id": session_id, **more})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())
