"""Files to and from a sandbox, in pieces: a gigabyte takes no more memory than a kilobyte."""

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
from skyrl_train.sandbox.client.http import NOT_SENT, Http, Request, refusal, said_by, transport_failure

T = TypeVar("T")
ServerInfo = Callable[[], Awaitable[Mapping[str, Any]]]
"""Asks the agent server for its name and version."""
_TRIES = 3
_WAIT_S = 0.2
_NO_ROUTE = "Not Found"
"""What a server says of a route that it does not have; of a file that is not there it says more."""


class Transfer:
    """One file, one way. A transfer writes a file whole, so doing it again does no harm."""

    def __init__(self, server_info: ServerInfo, http: Http, request: Request) -> None:
        self._server_info = server_info
        self._http = http
        self._request = request

    async def upload(self, source: Path | bytes, path: str) -> int:
        with _opened(source) as file:
            size = file.seek(0, os.SEEK_END)
            said = await self._tried(lambda: self._send(file, path))
        if said is not None and said != size:
            raise self._failed(Cause.LOST, f"{path} has {said} bytes in the sandbox; {size} were sent")
        return size

    async def download(self, path: str, target: Path) -> int:
        part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:12]}.part")
        try:
            size = await self._tried(lambda: self._receive(path, part))
            os.replace(part, target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part)
        return size

    async def read(self, path: str, limit_bytes: int) -> bytes:
        return await self._tried(lambda: self._read(path, limit_bytes))

    async def _tried(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """All tries within the limit. What the server answered is final; what broke off is tried again."""
        request = self._request
        try:
            async with asyncio.timeout(request.limit_s):
                return await self._attempts(attempt)
        except TimeoutError:
            raise self._failed(Cause.TIMEOUT, f"not through within {request.limit_s:g} s") from None
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
            raise self._failed(Cause.REFUSED, f"{path}: {said_by(response)}")
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
                    raise self._failed(
                        Cause.REFUSED, f"{path} has more than the {limit_bytes} bytes that were asked for"
                    )
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
        if response.status_code in (404, 405) and said_by(response) in (_NO_ROUTE, "Method Not Allowed"):
            version = await self._version()
            detail = f"the agent server has no such route for files (its version: {version}); client and server are of different ages"
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
def _opened(source: Path | bytes) -> Iterator[IO[bytes]]:
    if isinstance(source, bytes):
        yield io.BytesIO(source)
        return
    with open(source, "rb") as file:
        yield file
