"""The routes of the remote runtime API, as today's clients and those of V0 speak it, and a few of our own."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox import wire
from skyrl_train.contracts.sandbox.references import fault_of
from skyrl_train.sandbox.runtime.builds import Builds
from skyrl_train.sandbox.runtime.exceeded_limits import noticed
from skyrl_train.sandbox.runtime.guard import Guard, Refusals
from skyrl_train.sandbox.runtime.limits import gauges as limit_gauges
from skyrl_train.sandbox.runtime.openapi import DOCUMENT
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.refusals import RefusedError
from skyrl_train.sandbox.runtime.request_body import Json, read_json
from skyrl_train.sandbox.runtime.sessions import Sessions
from skyrl_train.sandbox.runtime.store import Parts
from skyrl_train.sandbox.start_request import RequestError, StartRequest, is_session_id, read_start

RESERVED = frozenset({"batch"})
_BATCH = 500
_MOST_PREWARMED = 1024


class Routes:
    def __init__(self, parts: Parts, sessions: Sessions, builds: Builds) -> None:
        self._parts = parts
        self._sessions = sessions
        self._builds = builds

    def told(self, record: Record, status: int = 200) -> Json:
        return Json(record.session(self._parts.settings.host).to_json(), status)

    async def start(self, request: Request) -> Response:
        asked = _start_request(await read_json(request))
        record = await self._sessions.start(asked)
        return self.told(await self._sessions.settled(record.runtime_id, self._parts.settings.hold_s))

    async def session(self, request: Request) -> Response:
        name = request.path_params["session_id"]
        if not is_session_id(name):
            raise RefusedError(400, f"{name!r:.80} is no session id")
        return self.told(await noticed(self._parts, self._sessions.of_session(name)))

    async def runtime(self, request: Request) -> Response:
        record = self._sessions.get(_runtime_id(request.path_params["runtime_id"]))
        return self.told(await noticed(self._parts, record))

    async def batch(self, request: Request) -> Response:
        words = [word for value in request.query_params.getlist("ids") for word in value.split(",") if word]
        if len(words) > _BATCH:
            raise RefusedError(400, f"{len(words)} ids; at most {_BATCH} at a time")
        found = (self._parts.book.of_session(word) for word in words)
        return Json([self._json(record) for record in found if record is not None])

    async def list(self, _request: Request) -> Response:
        return Json({"runtimes": [self._json(record) for record in self._parts.book.live()]})

    def _json(self, record: Record) -> Mapping[str, object]:
        self._sessions.touch(record)
        return record.session(self._parts.settings.host).to_json()

    async def change(self, request: Request, to: Callable[[str], Any]) -> Response:
        body = await read_json(request)
        given = body.get("runtime_id") if isinstance(body, Mapping) else None
        if not isinstance(given, str):
            raise RefusedError(400, "runtime_id: wanted a string")
        return self.told(await to(_runtime_id(given)))

    async def prewarm(self, request: Request) -> Response:
        body = await read_json(request)
        count = body.get("count", 1) if isinstance(body, Mapping) else 1
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MOST_PREWARMED:
            raise RefusedError(400, f"count: wanted 1 to {_MOST_PREWARMED}, found {count!r:.40}")
        asked = _start_request({**body, "session_id": "made-ahead"} if isinstance(body, Mapping) else body)
        begun = await self._sessions.begin_ahead(asked, count)
        return Json({"begun": begun, "waiting": len(self._sessions.prewarm.waiting())})

    async def image_exists(self, request: Request) -> Response:
        image = request.query_params.get("image", "")
        fault = fault_of(image)
        if fault:
            raise RefusedError(400, f"image: {image[:160]!r} {fault}")
        facts = await self._parts.engine.image(image)
        if facts is None:
            return Json({"exists": False})
        return Json({"exists": True, "image": {"upload_time": "", "image_size_bytes": 0, "digest": facts.digest}})

    async def registry_prefix(self, _request: Request) -> Response:
        return Json({"registry_prefix": self._parts.settings.registry_prefix})

    async def build(self, request: Request) -> Response:
        """202: clients of OpenHands 1.0 take no other status for a build that has begun."""
        return Json((await self._builds.begin(request)).to_json(), 202)

    async def build_status(self, request: Request) -> Response:
        return Json(self._builds.get(request.query_params.get("build_id", "")).to_json())

    async def health(self, _request: Request) -> Response:
        return Json({"status": "draining" if self._parts.draining else "ok"})

    async def metrics(self, _request: Request) -> Response:
        slots, records = self._parts.slots, self._parts.book.all()
        gauges: dict[str, float] = {"slots": slots.total, "slots_used": slots.used, "queue": slots.waiting}
        gauges |= {f'sessions{{state="{state}"}}': sum(r.state is state for r in records) for state in wire.State}
        gauges |= limit_gauges(self._parts.limits)
        gauges["removals_open"] = sum(record.removal for record in records)
        return PlainTextResponse(self._parts.metrics.text(gauges), media_type="text/plain; version=0.0.4")

    async def events(self, request: Request) -> Response:
        after = request.query_params.get("after", "0")
        if not after.isascii() or not after.isdecimal() or len(after) > 15:
            raise RefusedError(400, f"after: wanted a number, found {after!r:.40}")
        return Json({"events": self._parts.events.after(int(after))})

    async def openapi(self, _request: Request) -> Response:
        return Json(DOCUMENT)


def _start_request(body: object) -> StartRequest:
    try:
        asked = read_start(body)
    except RequestError as error:
        raise RefusedError(400, str(error)) from error
    if asked.session_id in RESERVED:
        raise RefusedError(400, f"session_id: {asked.session_id!r} is a route of its own; choose another")
    return asked


def _runtime_id(text: str) -> str:
    if not is_session_id(text):
        raise RefusedError(400, f"runtime_id: {text!r:.80} is no runtime id")
    return text


async def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return Json({"detail": error.detail}, error.status_code, headers=dict(error.headers or {}))


def application(parts: Parts, sessions: Sessions, builds: Builds, key: str) -> Guard:
    routes = Routes(parts, sessions, builds)
    changes = {wire.STOP: sessions.stop, wire.PAUSE: sessions.pause, wire.RESUME: sessions.resume}
    table = [
        Route(wire.START, routes.start, methods=["POST"]),
        *(Route(path, partial(routes.change, to=to), methods=["POST"]) for path, to in changes.items()),
        Route(f"{wire.SESSIONS}/batch", routes.batch),
        Route(f"{wire.SESSIONS}/{{session_id}}", routes.session),
        Route(f"{wire.RUNTIME}/{{runtime_id}}", routes.runtime),
        Route(wire.LIST, routes.list),
        Route("/prewarm", routes.prewarm, methods=["POST"]),
        Route(wire.IMAGE_EXISTS, routes.image_exists),
        Route(wire.REGISTRY_PREFIX, routes.registry_prefix),
        Route(wire.BUILD, routes.build, methods=["POST"]),
        Route(wire.BUILD_STATUS, routes.build_status),
        Route(wire.HEALTH, routes.health),
        Route("/alive", routes.health),
        Route(wire.METRICS, routes.metrics),
        Route(wire.EVENTS, routes.events),
        Route("/openapi.json", routes.openapi),
    ]
    refusals = Refusals(parts.events, parts.metrics)
    handlers = {HTTPException: _http_error, TrainError: refusals.handler, OSError: refusals.handler}
    inner = Starlette(routes=table, exception_handlers=handlers)
    inner.router.redirect_slashes = False
    return Guard(inner, key=key, refusals=refusals)
