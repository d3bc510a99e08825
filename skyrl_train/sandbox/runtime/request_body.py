"""Reads the body of a request within its limits, and what an answer is made of."""

import asyncio
import json
from typing import Any, NoReturn

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from skyrl_train.sandbox.runtime.refusals import RefusedError

LARGEST_BODY = 1 << 20
_READ_S = 30.0


class Json(Response):
    """ASCII on the wire: what a container printed may be no text at all, and must not fail the answer."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


async def read_body(request: Request, limit: int = LARGEST_BODY) -> bytes:
    """At most `limit` bytes, in time. Raises RefusedError."""
    try:
        async with asyncio.timeout(_READ_S):
            return await _within(request, limit)
    except TimeoutError as error:
        raise RefusedError(408, f"the body did not come within {_READ_S:g} s") from error
    except ClientDisconnect as error:
        raise RefusedError(400, "the client went away before its request was whole") from error


async def _within(request: Request, limit: int) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise RefusedError(413, f"the body is larger than {limit} bytes")
        parts.append(part)
    return b"".join(parts)


async def read_json(request: Request) -> object:
    content = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if content != "application/json" and not content.endswith("+json"):
        raise RefusedError(415, f"the body is {content!r:.60}; wanted application/json")
    body = await read_body(request)
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, f"the body is no JSON: {error!s:.200}") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
