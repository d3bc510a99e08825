"""One sandbox that answers: commands and files, through its agent server."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import httpx

from skyrl_train.contracts import sandboxd_api as agent
from skyrl_train.sandbox.client.commands import Command, CommandResult
from skyrl_train.sandbox.client.failures import Cause, Failure, SandboxError
from skyrl_train.sandbox.client.http import Http, Request
from skyrl_train.sandbox.client.session import SessionInfo
from skyrl_train.sandbox.client.transfer import Transfer

REQUEST_S = 30.0
OUTPUT_CHARS = 8 << 20
"""How much of a command's output is kept; a notice replaces the rest."""
DEFAULT_TIMEOUT_S = 120.0


class SessionControl(Protocol):
    """The runtime's calls for one session."""

    async def pause(self, session_id: str) -> None: ...

    async def resume(self, session_id: str) -> None: ...

    async def stop(self, session_id: str) -> None: ...


class Sandbox:
    """One sandbox and its agent server. `RuntimeClient` creates and removes it."""

    def __init__(self, http: Http, runtime: SessionControl, info: SessionInfo) -> None:
        self._http = http
        self._runtime = runtime
        self._info = info
        self._headers = {agent.SESSION_KEY_HEADER: info.key} if info.key else {}

    @property
    def session_id(self) -> str:
        return self._info.session_id

    @property
    def url(self) -> str:
        return self._info.url

    @property
    def has_key(self) -> bool:
        return bool(self._info.key)

    async def execute(
        self,
        command: str,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        cwd: str | None = None,
        max_chars: int = OUTPUT_CHARS,
    ) -> CommandResult:
        """Runs a command in /bin/sh; use `in_bash` of skyrl_train.contracts.sandbox.shell for bash. It is sent only once. Raises
        SandboxError if the sandbox does not answer."""
        return await Command(self, command, timeout_s=timeout_s, cwd=cwd, max_chars=max_chars).run()

    async def upload(self, source: Path | bytes, path: str, *, limit_s: float = 600.0) -> int:
        """Writes a file in the sandbox, in pieces; returns its size."""
        return await self._transfer("upload", limit_s).upload(source, path)

    async def download(self, path: str, target: Path, *, limit_s: float = 600.0) -> int:
        """Copies a file from the sandbox; `target` appears when it is complete. Returns its size."""
        return await self._transfer("download", limit_s).download(path, target)

    async def read(self, path: str, *, limit_bytes: int = 16 << 20, limit_s: float = 60.0) -> bytes:
        """Returns a file's content. Raises SandboxError if it is longer than `limit_bytes`."""
        return await self._transfer("read", limit_s).read(path, limit_bytes)

    async def pause(self) -> None:
        await self._runtime.pause(self.session_id)

    async def resume(self) -> None:
        await self._runtime.resume(self.session_id)

    async def close(self) -> None:
        """Removes the sandbox; safe to repeat."""
        await self._runtime.stop(self.session_id)

    async def server_info(self) -> Mapping[str, Any]:
        """The agent server's description of itself, with its version."""
        response = await self.ask("server info", "GET", agent.SERVER_INFO, repeatable=True)
        body = response.json()
        return body if isinstance(body, dict) else {}

    async def ask(
        self,
        operation: str,
        method: str,
        path: str,
        *,
        repeatable: bool,
        json: object = None,
        params: Mapping[str, str] | None = None,
        limit_s: float = REQUEST_S,
        expected: frozenset[int] = frozenset(),
    ) -> httpx.Response:
        """Sends one request to the agent server."""
        return await self._http.ask(
            Request(
                operation=operation,
                method=method,
                url=self._info.url + path,
                limit_s=limit_s,
                repeatable=repeatable,
                session_id=self.session_id,
                json=json,
                params=params,
                headers=self._headers,
                expected=expected,
            )
        )

    def failed(self, cause: Cause, operation: str, detail: str, status: int | None = None) -> SandboxError:
        return self._http.failed(
            Failure(cause=cause, operation=operation, detail=detail, session_id=self.session_id, status=status)
        )

    async def sleep(self, seconds: float) -> None:
        await self._http.sleep(seconds)

    def _transfer(self, operation: str, limit_s: float) -> Transfer:
        request = Request(
            operation=operation,
            method="POST" if operation == "upload" else "GET",
            url=self._info.url + (agent.FILE_UPLOAD if operation == "upload" else agent.FILE_DOWNLOAD),
            limit_s=limit_s,
            repeatable=True,
            session_id=self.session_id,
            headers=self._headers,
        )
        return Transfer(self.server_info, self._http, request)
