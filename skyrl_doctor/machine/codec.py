"""Answers to JSON and back. Text is kept as a list of lines, bytes that are no text as base64."""

import base64
import dataclasses
from typing import Any, TypeVar, cast

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine import questions as q
from skyrl_doctor.machine.base import Absent, Unreadable

T = TypeVar("T")
Json = Any
_RECORDS: dict[type, type] = {q.StatOf: q.Stat, q.SpaceOf: q.Space, q.WhoAmI: q.Identity}


def encode(question: q.Question[Any], answer: object) -> Json:
    """The JSON form of an answer."""
    if isinstance(answer, q.Completed):
        fields = {
            name: value for name, value in dataclasses.asdict(answer).items() if name not in ("out", "err", "limit_s")
        }
        return {**fields, "out": lines(answer.out), "err": lines(answer.err)}
    if isinstance(question, q.Read):
        return encode_bytes(cast(bytes, answer))
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        return dataclasses.asdict(answer)
    if isinstance(answer, tuple):
        return list(answer)
    return {"value": answer} if answer is None else answer


def decode(question: q.Question[T], value: Json) -> T:
    """The answer that was encoded; what it raised, it raises again."""
    if isinstance(value, dict) and "absent" in value:
        raise Absent(str(value["absent"]))
    if isinstance(value, dict) and "unreadable" in value:
        raise Unreadable(str(value["unreadable"]), str(value.get("why", "")))
    if isinstance(value, dict) and "could_not_look" in value:
        raise CouldNotLook(str(value["could_not_look"]))
    try:
        return cast(T, _decode(question, value))
    except (TypeError, ValueError, KeyError) as error:
        raise CouldNotLook(f"the recorded answer to {question.key!r} is malformed: {error}") from None


def _decode(question: q.Question[Any], value: Json) -> object:
    if isinstance(question, q.Run | q.Ask):
        fields = {**value, "out": text(value.get("out", [])), "err": text(value.get("err", []))}
        fields.setdefault("command", question.key.partition(" ")[2])
        return q.Completed(**{**fields, "limit_s": question.limit_s})
    if isinstance(question, q.Read):
        return decode_bytes(value)[: question.limit_bytes]
    record = _RECORDS.get(type(question))
    if record is not None:
        return record(**value)
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, dict) and set(value) == {"value"}:
        return value["value"]
    return value


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
