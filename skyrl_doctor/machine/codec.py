"""Answers to JSON and back. Text is kept as a list of lines, bytes that are no text as base64."""

import base64
import dataclasses
import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.base import Absent, Unreadable
from skyrl_doctor.machine.http_query import Fetched, Get

T = TypeVar("T")
Json = Any
_RECORDS: dict[type, type] = {q.StatOf: q.Stat, q.SpaceOf: q.Space, q.WhoAmI: q.Identity}


def encode(query: q.Query[Any], answer: object) -> Json:
    """The JSON form of an answer."""
    if isinstance(answer, q.Completed):
        fields = {
            name: value for name, value in dataclasses.asdict(answer).items() if name not in ("out", "err", "limit_s")
        }
        return {**fields, "out": lines(answer.out), "err": lines(answer.err)}
    if isinstance(answer, Fetched):
        return {**dataclasses.asdict(answer), "headers": list(answer.headers), "body": lines(answer.body)}
    if isinstance(query, q.Read):
        return encode_bytes(cast(bytes, answer))
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        return dataclasses.asdict(answer)
    if isinstance(answer, tuple):
        return list(answer)
    return {"value": answer} if answer is None else answer


def decode(query: q.Query[T], value: Json) -> T:
    """The answer that was encoded; what it raised, it raises again."""
    if isinstance(value, dict) and "absent" in value:
        raise Absent(str(value["absent"]))
    if isinstance(value, dict) and "unreadable" in value:
        raise Unreadable(str(value["unreadable"]), str(value.get("why", "")))
    if isinstance(value, dict) and "could_not_look" in value:
        raise CouldNotLook(str(value["could_not_look"]))
    try:
        return cast(T, _decode(query, value))
    except (TypeError, ValueError, KeyError) as error:
        raise CouldNotLook(f"the recorded answer to {query.key!r} is malformed: {error}") from None


def _decode(query: q.Query[Any], value: Json) -> object:
    if isinstance(query, q.Run | q.Ask):
        fields = {**value, "out": text(value.get("out", [])), "err": text(value.get("err", []))}
        fields.setdefault("command", query.key.partition(" ")[2])
        return _whole(q.Completed(**{**fields, "limit_s": query.limit_s}))
    if isinstance(query, Get):
        return _fetched(value)
    if isinstance(query, q.Read):
        return decode_bytes(value)[: query.limit_bytes]
    record = _RECORDS.get(type(query))
    if record is not None:
        return _whole(record(**value))
    answer = value["value"] if isinstance(value, dict) and set(value) == {"value"} else value
    if not _PLAIN[type(query)](answer):
        raise TypeError(f"it is {_shown(answer)}")
    return tuple(answer) if isinstance(answer, list) else answer


def _fetched(value: Json) -> Fetched:
    """Field by field: `status` may be null, and `headers` is a list of texts."""
    status, headers = value.get("status"), value.get("headers", [])
    truncated, body = value.get("truncated", False), text(value.get("body", []))
    if not (status is None or _int(status)) or not _texts(headers) or not isinstance(truncated, bool):
        raise TypeError(f"it is {_shown(value)}")
    return Fetched(
        url=str(value["url"]),
        status=status,
        headers=tuple(headers),
        body=body,
        truncated=truncated,
        why=str(value.get("why", "")),
    )


def _whole(answer: T) -> T:
    """The record, if each of its values is of the type that it declares: a bundle may have been edited."""
    for field in dataclasses.fields(cast(Any, answer)):
        value = getattr(answer, field.name)
        number = field.type is float and isinstance(value, int)
        if not (isinstance(value, cast(type, field.type)) or number) or (
            isinstance(value, bool) != (field.type is bool)
        ):
            raise TypeError(f"{field.name} is {_shown(value)}")
    return answer


def _shown(value: object) -> str:
    return repr(value)[:80]


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _environ(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for pair in value.items() for item in pair)


def _int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_PLAIN: dict[type, Callable[[Any], bool]] = {
    q.ListDir: _texts,
    q.ReadLink: lambda value: isinstance(value, str),
    q.Writable: lambda value: isinstance(value, bool),
    q.LockHolder: lambda value: value is None or _int(value),
    q.Which: lambda value: value is None or isinstance(value, str),
    q.Environ: _environ,
    q.Now: lambda value: _int(value) or (isinstance(value, float) and math.isfinite(value)),
}


def encode_error(error: CouldNotLook) -> Json:
    if isinstance(error, Absent):
        return {"absent": error.path}
    if isinstance(error, Unreadable):
        return {"unreadable": error.path, "why": error.why}
    return {"could_not_look": str(error)}


def encode_bytes(data: bytes) -> Json:
    try:
        return lines(data.decode("utf-8"))
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def decode_bytes(value: Json) -> bytes:
    if isinstance(value, dict):
        return base64.b64decode(value["base64"])
    return text(value).encode("utf-8")


def lines(content: str) -> list[str]:
    return content.split("\n")


def text(value: Json) -> str:
    """Lines, or one string, as text."""
    return value if isinstance(value, str) else "\n".join(value)
