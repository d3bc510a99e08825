"""Reads the body of a request within its limits; makes JSON answers."""

import asyncio
import json
from typing import Any, NoReturn

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from skyrl_train.sandbox.runtime.refusals import RefusedError

LARGEST_BODY = 1 << 20
_READ_S = 30.0


class Json(Response):
    """Sends ASCII: output of a container may not be valid text, and must not break the answer."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


async def read_body(request: Request, limit: int = LARGEST_BODY) -> bytes:
    """Reads at most `limit` bytes, in time. Raises RefusedError."""
    try:
        async with asyncio.timeout(_READ_S):
            return await _within(request, limit)
    except TimeoutError as error:
        raise RefusedError(408, f"the body was not complete after {_READ_S:g} s") from error
    except ClientDisconnect as error:
        raise RefusedError(400, "the client disconnected before its request was complete") from error


async def _within(request: Request, limit: int) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise RefusedError(413, f"the body is larger than the limit of {limit} bytes")
        parts.append(part)
    return b"".join(parts)


async def read_json(request: Request) -> object:
    content = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if content != "application/json" and not content.endswith("+json"):
        raise RefusedError(415, f"content-type is {content!r:.60}; expected application/json")
    body = await read_body(request)
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, f"the body is not JSON: {error!s:.200}") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
