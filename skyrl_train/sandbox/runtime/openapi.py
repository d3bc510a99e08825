"""The server's routes as an OpenAPI document, for clients and for schemathesis."""

from typing import Any

from skyrl_train.contracts.sandbox import wire
from skyrl_train.contracts.version import VERSION
from skyrl_train.sandbox.request_rules import Rule, Schema
from skyrl_train.sandbox.runtime.build_form import FORM
from skyrl_train.sandbox.runtime.requests import BUILD_ID, CHANGE, EVENT_NUMBER, IDS, PREWARM, RUNTIME_ID
from skyrl_train.sandbox.start_request import IMAGE, SESSION_ID, START

Object = dict[str, Any]

_DETAIL = {"type": "object", "required": ["detail"], "properties": {"detail": {"type": "string"}}}
_TEXT, _COUNT = {"type": "string"}, {"type": "integer"}
_SESSION: Object = {
    "type": "object",
    "required": ["session_id", "runtime_id", "id", "url", "status", "pod_status", "state", "restart_count", "pod_logs"],
    "properties": {
        "session_id": _TEXT,
        "runtime_id": _TEXT,
        "id": _TEXT,
        "url": _TEXT,
        "session_api_key": {"type": ["string", "null"]},
        "status": {"enum": [word.value for word in wire.Status]},
        "pod_status": {"enum": [word.value for word in wire.PodStatus]},
        "state": {"enum": [word.value for word in wire.State]},
        "container_statuses": {"type": "array"},
        "events": {"type": "array", "items": _TEXT},
        "restart_count": _COUNT,
        "restart_reasons": {"type": "array", "items": _TEXT},
        "pod_logs": _TEXT,
        "work_hosts": {"type": "object"},
    },
}
_REFUSALS = {
    "400": "The request cannot be used.",
    "401": "No key, or a wrong one.",
    "404": "There is nothing of that name.",
    "408": "The body did not come in time.",
    "409": "Not in the state that the session is in.",
    "413": "The body is too large.",
    "415": "The body is no JSON.",
    "429": "As many builds as there may be; Retry-After says when.",
    "422": "More than this node has.",
    "502": "The engine refused.",
    "507": "The disk is full.",
    "503": "Not now; Retry-After says when.",
}


def _json(schema: Object, description: str = "The answer.") -> Object:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _operation(summary: str, answer: Object, *, body: Schema | None = None, where: tuple[Object, ...] = ()) -> Object:
    made: Object = {
        "summary": summary,
        "parameters": list(where),
        "responses": {"200": answer, **{code: _json(_DETAIL, why) for code, why in _REFUSALS.items()}},
    }
    if body is not None:
        made["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return made


def _named_operation(name: str, summary: str, answer: Object, **more: Any) -> Object:
    """One that links lead to."""
    return {"operationId": name, **_operation(summary, answer, **more)}


def _parameter(name: str, rule: Rule[Any], place: str = "path") -> Object:
    return {"name": name, "in": place, "required": place == "path", "schema": rule.schema}


def _build_operation() -> Object:
    made = _operation("Build an image out of a directory", _ANY)
    made["responses"]["202"] = made["responses"].pop("200")
    made["requestBody"] = {"required": True, "content": {"multipart/form-data": {"schema": FORM.schema}}}
    return made


_MANY: Object = {"type": "array", "items": {"$ref": "#/components/schemas/Session"}}
_ONE = _json({"$ref": "#/components/schemas/Session"})
_ANY = _json({"type": "object"})
_BY_RUNTIME: Object = {"requestBody": {"runtime_id": "$response.body#/runtime_id"}}
_BEGUN: Object = {
    **_ONE,
    "links": {
        "stop": {"operationId": "stop", **_BY_RUNTIME},
        "pause": {"operationId": "pause", **_BY_RUNTIME},
        "resume": {"operationId": "resume", **_BY_RUNTIME},
        "session": {"operationId": "session", "parameters": {"session_id": "$response.body#/session_id"}},
        "runtime": {"operationId": "runtime", "parameters": {"runtime_id": "$response.body#/runtime_id"}},
    },
}
"""What a client does with a session that it has."""
_PATHS: Object = {
    wire.START: {"post": _operation("Start a session's sandbox, or find it", _BEGUN, body=START.schema)},
    wire.STOP: {"post": _named_operation("stop", "Stop a sandbox for good", _ONE, body=CHANGE.schema)},
    wire.PAUSE: {"post": _named_operation("pause", "Hold a sandbox", _ONE, body=CHANGE.schema)},
    wire.RESUME: {"post": _named_operation("resume", "Let a paused sandbox go on", _ONE, body=CHANGE.schema)},
    f"{wire.SESSIONS}/batch": {
        "get": _operation("Several sessions", _json(_MANY), where=(_parameter("ids", IDS, "query"),))
    },
    f"{wire.SESSIONS}/{{session_id}}": {
        "get": _named_operation("session", "A session", _ONE, where=(_parameter("session_id", SESSION_ID),))
    },
    f"{wire.RUNTIME}/{{runtime_id}}": {
        "get": _named_operation("runtime", "A sandbox", _ONE, where=(_parameter("runtime_id", RUNTIME_ID),))
    },
    wire.LIST: {"get": _operation("What is not over", _ANY)},
    "/prewarm": {"post": _operation("Make sandboxes ahead", _ANY, body=PREWARM.schema)},
    wire.IMAGE_EXISTS: {
        "get": _operation("Whether an image is here", _ANY, where=(_parameter("image", IMAGE, "query"),))
    },
    wire.REGISTRY_PREFIX: {"get": _operation("The prefix of images", _ANY)},
    wire.BUILD: {"post": _build_operation()},
    wire.BUILD_STATUS: {"get": _operation("Of a build", _ANY, where=(_parameter("build_id", BUILD_ID, "query"),))},
    wire.HEALTH: {"get": {**_operation("Whether the server is there", _ANY), "security": []}},
    wire.METRICS: {
        "get": _operation("Prometheus' text", {"description": "Metrics.", "content": {"text/plain": {"schema": _TEXT}}})
    },
    wire.EVENTS: {"get": _operation("What happened", _ANY, where=(_parameter("after", EVENT_NUMBER, "query"),))},
}
DOCUMENT: Object = {
    "openapi": "3.1.0",
    "info": {"title": "skyrl sandbox runtime", "version": VERSION},
    "security": [{"key": []}],
    "components": {
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": wire.RUNTIME_KEY_HEADER}},
        "schemas": {"Session": _SESSION},
    },
    "paths": _PATHS,
}
