"""One sandbox that answers: commands and files, through its agent server."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from skyrl_train.contracts import sandboxd_api as agent
from skyrl_train.sandbox.client.commands import Command
from skyrl_train.sandbox.client.failures import Cause, Failure, SandboxError
from skyrl_train.sandbox.client.http import Http, Request
from skyrl_train.sandbox.client.session import Seen
from skyrl_train.sandbox.client.transfer import Transfer

if TYPE_CHECKING:
    from skyrl_train.sandbox.client.runtime import RuntimeClient

REQUEST_S = 30.0
OUTPUT_CHARS = 8 << 20
"""Of a command's output this much is kept; a notice stands for the rest."""
DEFAULT_TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """`exit_code` is TIMED_OUT where the command was stopped. `truncated`: there was more output than was kept."""

    command: str
    exit_code: int
    stdout: str
    stderr: str
    timed_out: bool = False
    truncated: bool = False


class Sandbox:
    """A session's agent server. Made by `RuntimeClient`, which also removes it."""

    def __init__(self, http: Http, runtime: "RuntimeClient", seen: Seen) -> None:
        self._http = http
        self._runtime = runtime
        self._seen = seen
        self._headers = {agent.SESSION_KEY_HEADER: seen.key} if seen.key else {}

    @property
    def session_id(self) -> str:
        return self._seen.session_id

    @property
    def url(self) -> str:
        return self._seen.url

    @property
    def has_key(self) -> bool:
        return bool(self._seen.key)

    async def execute(
        self,
        command: str,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        cwd: str | None = None,
        max_chars: int = OUTPUT_CHARS,
    ) -> CommandResult:
        """Runs a command in /bin/sh; `in_bash` of skyrl_train.contracts.sandbox.shell hands it to bash. What it started may be
        lost on the way: it is sent once only. Raises SandboxError where the sandbox does not answer."""
        return await Command(self, command, timeout_s=timeout_s, cwd=cwd, max_chars=max_chars).run()

    async def upload(self, source: Path | bytes, path: str, *, limit_s: float = 600.0) -> int:
        """Writes a file of the sandbox, whole; memory stays flat. How many bytes it has then."""
        return await self._transfer("upload", limit_s).upload(source, path)

    async def download(self, path: str, target: Path, *, limit_s: float = 600.0) -> int:
        """Copies a file of the sandbox; `target` appears only when it is whole. How many bytes it has."""
        return await self._transfer("download", limit_s).download(path, target)

    async def read(self, path: str, *, limit_bytes: int = 16 << 20, limit_s: float = 60.0) -> bytes:
        """A file's bytes. One that is longer is refused."""
        return await self._transfer("read", limit_s).read(path, limit_bytes)

    async def pause(self) -> None:
        await self._runtime.pause(self.session_id)

    async def resume(self) -> None:
        await self._runtime.resume(self.session_id)

    async def close(self) -> None:
        """Removes it; a second time is fine."""
        await self._runtime.stop(self.session_id)

    async def server_info(self) -> Mapping[str, Any]:
        """What the agent server says of itself: its version, above all."""
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
        """One request to the agent server."""
        return await self._http.ask(
            Request(
                operation=operation,
                method=method,
                url=self._seen.url + path,
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
            url=self._seen.url + (agent.FILE_UPLOAD if operation == "upload" else agent.FILE_DOWNLOAD),
            limit_s=limit_s,
            repeatable=True,
            session_id=self.session_id,
            headers=self._headers,
        )
        return Transfer(self, self._http, request)
