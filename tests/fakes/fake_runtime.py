"""A runtime and its sandboxes in memory, behind httpx's own transport, with faults by script."""

import asyncio
import json
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from skyrl_train.sandbox.client.failures import Failure
from skyrl_train.sandbox.client.runtime import Limits, RuntimeClient

KEY = "the-key-of-this-job"
URL = "http://node07:8000"
IMAGE = "docker.io/namanjain12/pandas_final:ab12"
Fault = httpx.Response | Exception


@dataclass
class FakeSession:
    """`pod_statuses` are told one after the other; the last one stays."""

    session_id: str
    pod_statuses: list[str]
    runtime_id: str = field(default_factory=lambda: f"skyrl-{uuid.uuid4().hex[:12]}")
    status: str = "running"
    key: str | None = "session-key"
    logs: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    outputs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://{self.runtime_id}:60000"

    def told(self) -> dict[str, Any]:
        status = self.pod_statuses.pop(0) if len(self.pod_statuses) > 1 else self.pod_statuses[0]
        return {
            "runtime_id": self.runtime_id,
            "url": self.url,
            "session_api_key": self.key,
            "status": self.status,
            "pod_status": status,
            "pod_logs": self.logs,
        }


class FakeRuntime:
    """`faults["POST /start"]` are answers and errors that come, one each, before the right ones."""

    def __init__(self) -> None:
        self.sessions: dict[str, FakeSession] = {}
        self.new: Callable[[str], FakeSession] = lambda name: FakeSession(name, ["pending", "running", "ready"])
        self.on_command: Callable[[str], list[dict[str, Any]]] = lambda command: [
            {"order": 0, "stdout": f"ran {command}\n", "stderr": "", "exit_code": None},
            {"order": 1, "stdout": None, "stderr": None, "exit_code": 0},
        ]
        self.faults: dict[str, list[Fault]] = {}
        self.asked: list[str] = []
        self.file_routes = True
        self.before_answer: Callable[[str], None] = lambda _: None
        self.failures: list[Failure] = []
        self.slept: list[float] = []

    def client(self, *, key: str = KEY, limits: Limits | None = None) -> RuntimeClient:
        return RuntimeClient(
            URL,
            key,
            limits=limits,
            events=self.failures.append,
            transport=self.transport,
            sleep=self._sleep,
        )

    @property
    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self._answer)

    @property
    def causes(self) -> list[str]:
        return [failure.cause.value for failure in self.failures]

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)  # deadlines pass meanwhile

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        line = f"{request.method} {request.url.path}"
        self.asked.append(line)
        self.before_answer(line)
        await request.aread()
        pending = self.faults.get(line, [])
        if pending:
            fault = pending.pop(0)
            if isinstance(fault, Exception):
                raise fault
            return fault
        return self._runtime(request) if request.url.host == "node07" else self._agent(request)

    def _runtime(self, request: httpx.Request) -> httpx.Response:
        if request.headers.get("X-API-Key") != KEY:
            return httpx.Response(401, json={"detail": "a wrong key in X-API-Key"})
        body = json.loads(request.content) if request.content else {}
        match request.method, request.url.path:
            case "POST", "/start":
                session = self.sessions.setdefault(body["session_id"], self.new(body["session_id"]))
                return httpx.Response(200, json=session.told())
            case "GET", path if path.startswith("/sessions/"):
                found = self.sessions.get(path.removeprefix("/sessions/"))
                return httpx.Response(404) if found is None else httpx.Response(200, json=found.told())
            case "POST", "/stop" | "/pause" | "/resume" as path:
                return self._change(path, body["runtime_id"])
        return httpx.Response(404, json={"detail": "Not Found"})

    def _change(self, path: str, runtime_id: str) -> httpx.Response:
        session = next((one for one in self.sessions.values() if one.runtime_id == runtime_id), None)
        if session is None:
            return httpx.Response(404)
        if path == "/stop":
            del self.sessions[session.session_id]
        else:
            session.status = "paused" if path == "/pause" else "running"
        return httpx.Response(200, json={})

    def _agent(self, request: httpx.Request) -> httpx.Response:
        session = next((one for one in self.sessions.values() if one.runtime_id == request.url.host), None)
        if session is None:
            raise httpx.ConnectError("connection refused")
        path = request.url.path
        if path == "/health":
            return httpx.Response(200, json={"status": "ok"})
        if path == "/server_info":
            return httpx.Response(200, json={"version": "1.58.0"})
        if session.key and request.headers.get("X-Session-API-Key") != session.key:
            return httpx.Response(401, json={"detail": "Unauthorized"})
        if path.startswith("/api/file/") and not self.file_routes:
            return httpx.Response(404, json={"detail": "Not Found"})
        return self._api(session, request, path)

    def _api(self, session: FakeSession, request: httpx.Request, path: str) -> httpx.Response:
        file = request.url.params.get("path", "")
        if path == "/api/bash/start_bash_command":
            command_id = str(uuid.uuid4())
            session.outputs[command_id] = self.on_command(json.loads(request.content)["command"])
            return httpx.Response(200, json={"id": command_id})
        if path == "/api/bash/bash_events/search":
            after = int(request.url.params.get("order__gt", "-1"))
            events = session.outputs[request.url.params["command_id__eq"]]
            return httpx.Response(200, json={"items": [event for event in events if event["order"] > after]})
        if path == "/api/file/upload":
            session.files[file] = _payload(request)
            return httpx.Response(200, json={"success": True, "file_size": len(session.files[file])})
        if path == "/api/file/download" and file in session.files:
            return httpx.Response(200, content=session.files[file])
        return httpx.Response(404, json={"detail": f"File not found: {file}"})


def _payload(request: httpx.Request) -> bytes:
    """The one file of a multipart body."""
    boundary = request.headers["content-type"].partition("boundary=")[2].encode()
    found = re.search(rb"\r\n\r\n(.*)\r\n--" + re.escape(boundary) + rb"--", request.content, re.DOTALL)
    assert found is not None
    return found[1]
