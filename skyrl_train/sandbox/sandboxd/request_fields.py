"""What a request gives, read once into types; what cannot be read is answered in the real server's words (422)."""

from __future__ import annotations

import json
from datetime import datetime, timezone

from skyrl_train.contracts.sandboxd_api import BASH_COMMAND, BASH_OUTPUT, DEFAULT_TIMEOUT_S
from skyrl_train.sandbox.sandboxd.events import Search
from skyrl_train.sandbox.sandboxd.http import HttpError, Request

MAX_JSON = 4 * 1024 * 1024
_HEX = frozenset("0123456789abcdef")
_SEARCH_LIMIT = 100
_UTC = timezone.utc  # noqa: UP017 - Python 3.8 has no UTC


def problem(kind: str, place: list[str], message: str, given: object = None) -> HttpError:
    return HttpError(422, [{"type": kind, "loc": place, "msg": message, "input": given}])


def missing(*place: str) -> HttpError:
    return problem("missing", list(place), "Field required")


def query(request: Request, name: str) -> str:
    if name not in request.query:
        raise missing("query", name)
    return request.query[name]


def absolute_path(path: str) -> str:
    """One that says where it leads. `..` is refused: what names a file elsewhere is a mistake or an attempt."""
    if not path.startswith("/"):
        raise HttpError(400, "Path must be absolute")
    if "\0" in path:
        raise HttpError(400, "Path must not contain NUL")
    if ".." in path.split("/"):
        raise HttpError(400, "Path must not contain '..'")
    return path


def command_request(request: Request) -> tuple[str, str | None, int]:
    """Command, directory and time-out in seconds."""
    body = _json_object(request)
    if "command" not in body:
        raise missing("body", "command")
    command, cwd = _text(body, "command"), body.get("cwd")
    return command, None if cwd is None else _text(body, "cwd"), _timeout(body.get("timeout", DEFAULT_TIMEOUT_S))


def search_request(request: Request) -> Search:
    search, asked = Search(), request.query
    search.kind = asked.get("kind__eq")
    if search.kind not in (None, BASH_COMMAND, BASH_OUTPUT):
        said = f"Input should be '{BASH_COMMAND}' or '{BASH_OUTPUT}'"
        raise problem("literal_error", ["query", "kind__eq"], said, search.kind)
    if "command_id__eq" in asked:
        search.command_id = identifier(asked["command_id__eq"], "query", "command_id__eq")
    if "order__gt" in asked:
        search.order_above = _integer(asked["order__gt"], "order__gt")
    order = asked.get("sort_order", "TIMESTAMP")
    if order not in ("TIMESTAMP", "TIMESTAMP_DESC"):
        raise problem("enum", ["query", "sort_order"], "Input should be 'TIMESTAMP' or 'TIMESTAMP_DESC'", order)
    search.newest_first = order == "TIMESTAMP_DESC"
    search.page_id = asked.get("page_id")
    search.since = _time(asked, "timestamp__gte")
    search.until = _time(asked, "timestamp__lt")
    search.limit = _integer(asked.get("limit", str(_SEARCH_LIMIT)), "limit")
    if search.limit < 1:
        raise problem("greater_than", ["query", "limit"], "Input should be greater than 0", asked["limit"])
    if search.limit > _SEARCH_LIMIT:
        said = f"Input should be less than or equal to {int(_SEARCH_LIMIT)}"
        raise problem("less_than_equal", ["query", "limit"], said, asked["limit"])
    return search


def identifier(text: str, *place: str) -> str:
    """A UUID in any of its spellings, as 32 hexadecimal digits."""
    plain = text.lower().replace("-", "")
    if len(plain) != 32 or not _HEX.issuperset(plain):
        raise problem("uuid_parsing", list(place), "Input should be a valid UUID", text)
    return plain


def _json_object(request: Request) -> dict[str, object]:
    raw = request.body.all(MAX_JSON)
    if not raw:
        raise missing("body")
    try:
        body = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise problem("json_invalid", ["body", "0"], f"JSON decode error: {error}") from None
    if not isinstance(body, dict):
        said = "Input should be a valid dictionary or object to extract fields from"
        raise problem("model_attributes_type", ["body"], said)
    return body


def _text(body: dict[str, object], name: str) -> str:
    value = body[name]
    if not isinstance(value, str):
        raise problem("string_type", ["body", name], "Input should be a valid string", value)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise problem("string_unicode", ["body", name], "Input should be a valid string: half a surrogate") from None
    return value


def _timeout(value: object) -> int:
    """Whole seconds; text of digits counts, as it does with the real server."""
    if isinstance(value, float) and value == value and abs(value) < 1e15 and int(value) == value:
        value = int(value)
    if isinstance(value, str):
        return _integer(value, "timeout", where="body")
    if not isinstance(value, int):
        raise problem("int_type", ["body", "timeout"], "Input should be a valid integer", _printable(value))
    return int(value)


def _integer(text: str, name: str, *, where: str = "query") -> int:
    try:
        if len(text) > 20:
            raise ValueError(text)
        return int(text)
    except ValueError:
        said = "Input should be a valid integer, unable to parse string as an integer"
        raise problem("int_parsing", [where, name], said, text[:100]) from None


def _time(asked: dict[str, str], name: str) -> str | None:
    """As events write it; one without a zone is UTC."""
    if name not in asked:
        return None
    try:
        time = datetime.fromisoformat(asked[name].replace("Z", "+00:00"))  # noqa: FURB162 - Python 3.8 reads no Z
        aware = time if time.tzinfo else time.replace(tzinfo=_UTC)
        return aware.astimezone(_UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    except (ValueError, OverflowError):
        raise problem("datetime_parsing", ["query", name], "Input should be a valid datetime", asked[name]) from None


def _printable(value: object) -> object:
    """JSON knows no infinity and no NaN, though Python reads them."""
    return str(value) if isinstance(value, float) else value
