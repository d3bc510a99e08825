"""Copies files to and from a sandbox in pieces, so memory use does not grow with the size."""

import asyncio
import contextlib
import io
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

import httpx

from skyrl_train.sandbox.client.failures import Cause, Failure, SandboxError
from skyrl_train.sandbox.client.http import NOT_SENT, Http, Request, error_text, refusal, transport_failure

T = TypeVar("T")
ServerInfo = Callable[[], Awaitable[Mapping[str, Any]]]
"""Asks the agent server for its name and version."""
_TRIES = 3
_WAIT_S = 0.2
_NO_ROUTE = "Not Found"
"""The message for a missing route; the one for a missing file is longer."""


class Transfer:
    """One file in one direction. A transfer always writes the whole file, so repeating it does no harm."""

    def __init__(self, server_info: ServerInfo, http: Http, request: Request) -> None:
        self._server_info = server_info
        self._http = http
        self._request = request

    async def upload(self, source: Path | bytes, path: str) -> int:
        with _open(source) as file:
            size = file.seek(0, os.SEEK_END)
            said = await self._retry(lambda: self._send(file, path))
        if said is not None and said != size:
            raise self._failed(Cause.LOST, f"{path} has {said} bytes in the sandbox; expected {size}")
        return size

    async def download(self, path: str, target: Path) -> int:
        part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:12]}.part")
        try:
            size = await self._retry(lambda: self._receive(path, part))
            os.replace(part, target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part)
        return size

    async def read(self, path: str, limit_bytes: int) -> bytes:
        return await self._retry(lambda: self._read(path, limit_bytes))

    async def _retry(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Retries lost connections within the limit. An answer of the server is final."""
        request = self._request
        try:
            async with asyncio.timeout(request.limit_s):
                return await self._attempts(attempt)
        except TimeoutError:
            raise self._failed(Cause.TIMEOUT, f"not finished within {request.limit_s:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._http.failed(transport_failure(request, error, sent=not isinstance(error, NOT_SENT))) from error

    async def _attempts(self, attempt: Callable[[], Awaitable[T]]) -> T:
        for number in range(1, _TRIES):
            with contextlib.suppress(httpx.HTTPError):
                return await attempt()
            await self._http.sleep(_WAIT_S * number)
        return await attempt()

    async def _send(self, file: IO[bytes], path: str) -> int | None:
        file.seek(0)
        request = self._request
        response = await self._http.raw.post(
            request.url,
            params={"path": path},
            files={"file": ("file", file, "application/octet-stream")},
            headers=request.headers,
        )
        if not response.is_success:
            raise await self._refused(response, path)
        body = response.json() if response.content else None
        size = body.get("file_size") if isinstance(body, dict) else None
        if isinstance(body, dict) and body.get("success") is False:
            raise self._failed(Cause.REFUSED, f"{path}: {error_text(response)}")
        return size if isinstance(size, int) and not isinstance(size, bool) else None

    async def _receive(self, path: str, part: Path) -> int:
        with open(part, "wb") as file:
            async with self._streamed(path) as response:
                async for chunk in response.aiter_bytes():
                    file.write(chunk)
            return file.tell()

    async def _read(self, path: str, limit_bytes: int) -> bytes:
        data = bytearray()
        async with self._streamed(path) as response:
            async for chunk in response.aiter_bytes():
                data += chunk
                if len(data) > limit_bytes:
                    raise self._failed(Cause.REFUSED, f"{path} is larger than the limit of {limit_bytes} bytes")
        return bytes(data)

    @asynccontextmanager
    async def _streamed(self, path: str) -> AsyncIterator[httpx.Response]:
        request = self._request
        async with self._http.raw.stream(
            "GET", request.url, params={"path": path}, headers=request.headers
        ) as response:
            if not response.is_success:
                await response.aread()
                raise await self._refused(response, path)
            yield response

    async def _refused(self, response: httpx.Response, path: str) -> SandboxError:
        if response.status_code in (404, 405) and error_text(response) in (_NO_ROUTE, "Method Not Allowed"):
            version = await self._version()
            detail = f"the agent server (version {version}) does not have this route for files; use a client and a server of the same version"
            return self._failed(Cause.ROUTE, detail, response.status_code)
        failure = refusal(self._request, response)
        return self._failed(failure.cause, f"{path}: {failure.detail}", response.status_code)

    async def _version(self) -> str:
        try:
            info = await self._server_info()
        except SandboxError:
            return "unknown"
        return str(info.get("version") or info.get("sdk_version") or "unknown")

    def _failed(self, cause: Cause, detail: str, status: int | None = None) -> SandboxError:
        operation, session_id = self._request.operation, self._request.session_id
        return self._http.failed(
            Failure(cause=cause, operation=operation, detail=detail, session_id=session_id, status=status)
        )


@contextmanager
def _open(source: Path | bytes) -> Iterator[IO[bytes]]:
    if isinstance(source, bytes):
        yield io.BytesIO(source)
        return
    with open(source, "rb") as file:
        yield file
