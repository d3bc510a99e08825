"""The routes of the remote runtime API for today's clients and those of V0, and a few of our own."""

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
from skyrl_train.sandbox.runtime.guard import Guard, Refusals
from skyrl_train.sandbox.runtime.lifecycle import Runtime
from skyrl_train.sandbox.runtime.metrics import METRICS_TYPE
from skyrl_train.sandbox.runtime.openapi import DOCUMENT
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.request_body import Json, read_json
from skyrl_train.sandbox.runtime.requests import (
    BUILD_ID,
    EVENT_NUMBER,
    IDS,
    RUNTIME_ID,
    read_change,
    read_prewarm,
    read_start,
    read_value,
)
from skyrl_train.sandbox.start_request import IMAGE, SESSION_ID


class Routes:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._sessions = runtime.sessions
        self._records = runtime.store.records

    def _answer(self, record: Record) -> Json:
        return Json(record.session(self._runtime.settings.host).to_json())

    async def start(self, request: Request) -> Response:
        record = await self._sessions.start(read_start(await read_json(request)))
        return self._answer(await self._sessions.settled(record.runtime_id, self._runtime.settings.hold_s))

    async def session(self, request: Request) -> Response:
        name = read_value(SESSION_ID, "session_id", request.path_params)
        return self._answer(await self._runtime.exceeded_limits.added_to(self._sessions.of_session(name)))

    async def runtime(self, request: Request) -> Response:
        record = self._sessions.get(read_value(RUNTIME_ID, "runtime_id", request.path_params))
        return self._answer(await self._runtime.exceeded_limits.added_to(record))

    async def batch(self, request: Request) -> Response:
        names = read_value(IDS, "ids", {"ids": ",".join(request.query_params.getlist("ids"))})
        found = (self._records.of_session(name) for name in names)
        return Json([self._json(record) for record in found if record is not None])

    async def list(self, _request: Request) -> Response:
        return Json({"runtimes": [self._json(record) for record in self._records.live()]})

    def _json(self, record: Record) -> Mapping[str, object]:
        self._runtime.sandboxes.touch(record.runtime_id)
        return record.session(self._runtime.settings.host).to_json()

    async def change(self, request: Request, to: Callable[[str], Any]) -> Response:
        return self._answer(await to(read_change(await read_json(request))))

    async def prewarm(self, request: Request) -> Response:
        sandbox, count = read_prewarm(await read_json(request))
        begun = await self._sessions.start_ahead(sandbox, count)
        return Json({"begun": begun, "waiting": len(self._sessions.prewarm.waiting())})

    async def image_exists(self, request: Request) -> Response:
        facts = await self._runtime.sandboxes.engine.image(read_value(IMAGE, "image", request.query_params))
        if facts is None:
            return Json({"exists": False})
        return Json({"exists": True, "image": {"upload_time": "", "image_size_bytes": 0, "digest": facts.digest}})

    async def registry_prefix(self, _request: Request) -> Response:
        return Json({"registry_prefix": self._runtime.settings.registry_prefix})

    async def build(self, request: Request) -> Response:
        """202: clients of OpenHands 1.0 accept no other status for a started build."""
        return Json((await self._runtime.builds.begin(request)).to_json(), 202)

    async def build_status(self, request: Request) -> Response:
        return Json(self._runtime.builds.get(read_value(BUILD_ID, "build_id", request.query_params)).to_json())

    async def health(self, _request: Request) -> Response:
        return Json({"status": "draining" if self._runtime.admission.draining else "ok"})

    async def metrics(self, _request: Request) -> Response:
        return PlainTextResponse(self._runtime.telemetry.metrics.text(), media_type=METRICS_TYPE)

    async def events(self, request: Request) -> Response:
        number = int(read_value(EVENT_NUMBER, "after", request.query_params, "0"))
        events = self._runtime.telemetry.events
        return Json({"events": events.after(number), "without_key": events.strangers.last()})

    async def openapi(self, _request: Request) -> Response:
        return Json(DOCUMENT)


async def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return Json({"detail": error.detail}, error.status_code, headers=dict(error.headers or {}))


def application(runtime: Runtime, key: str) -> Guard:
    routes, sessions = Routes(runtime), runtime.sessions
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
    refusals = Refusals(runtime.telemetry)
    handlers = {HTTPException: _http_error, TrainError: refusals.handler, OSError: refusals.handler}
    inner = Starlette(routes=table, exception_handlers=handlers)
    inner.router.redirect_slashes = False
    return Guard(inner, key=key, refusals=refusals)
