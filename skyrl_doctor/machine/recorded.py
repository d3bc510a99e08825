"""A recorded machine: a directory with answers. Test fixtures and support bundles of users have the same format.

about.toml     source, date, and what was edited; `extends` names another recording to start from
*.json         answers by query; texts are lists of lines, so that a diff is readable
"""

import json
import os
import threading
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.machine import codec
from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.base import MIB, Machine
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.redact import Redactor
from skyrl_train.contracts.files import replacing

T = TypeVar("T")
FORMAT = 1
LIMIT_BYTES = 64 * MIB


class NotRecorded(BaseException):
    """A strict recording lacks an answer. It is a BaseException, so that no handler turns it into a verdict."""


class RecordedMachine(Machine):
    """Answers from a recording. A missing answer raises CouldNotLook, or NotRecorded if `strict`."""

    def __init__(self, answers: Mapping[str, codec.Json], *, name: str = "recording", strict: bool = False) -> None:
        self._answers = dict(answers)
        self._name = name
        self._strict = strict

    @classmethod
    def load(cls, directory: str, *, strict: bool = False) -> "RecordedMachine":
        return cls(_load(directory, depth=0), name=directory, strict=strict)

    def but(self, changes: Mapping[str, codec.Json]) -> "RecordedMachine":
        """A copy with some answers changed; None removes an answer."""
        merged = {**self._answers, **changes}
        kept = {key: value for key, value in merged.items() if value is not None}
        return RecordedMachine(kept, name=self._name, strict=self._strict)

    def answer(self, query: q.Query[T]) -> T:
        if query.key not in self._answers:
            if self._strict:
                raise NotRecorded(f"{self._name} has no answer to {query.key!r}")
            raise CouldNotLook(f"not in this recording ({self._name}): {query.key}")
        return codec.decode(query, self._answers[query.key])


class Recorder(Machine):
    """Passes queries on to another machine and records its answers without secrets."""

    def __init__(self, inner: Machine) -> None:
        self._inner = inner
        self._redact = Redactor.of(inner.environ())
        self._answers: dict[str, codec.Json] = {}
        self._lock = threading.Lock()

    def answer(self, query: q.Query[T]) -> T:
        try:
            answer = self._inner.answer(query)
        except CouldNotLook as error:
            self._keep(query, codec.encode_error(error))
            raise
        if isinstance(answer, bytes) and _is_binary(answer):  # offsets in a binary file must not move
            self._store(query, codec.encode(query, self._redact.in_place(answer)))
        else:
            self._keep(query, codec.encode(query, answer))
        return answer

    @property
    def size(self) -> int:
        return len(self._answers)

    def close(self) -> None:
        self._inner.close()

    def write(self, directory: str, *, about: Mapping[str, str]) -> None:
        """Writes the bundle. machine.json is renamed into place last, so a directory that has one is complete."""
        os.makedirs(directory, mode=0o700, exist_ok=True)
        lines = [f"format = {FORMAT}", *(f"{name} = {json.dumps(value)}" for name, value in about.items())]
        _replace(os.path.join(directory, "about.toml"), "\n".join(lines) + "\n")
        with self._lock:
            text = json.dumps(self._answers, indent=1, sort_keys=True, ensure_ascii=False)
        _replace(os.path.join(directory, "machine.json"), text + "\n")

    def _keep(self, query: q.Query[Any], answer: codec.Json) -> None:
        redacted = (
            self._redact.environ(answer)
            if isinstance(query, q.Environ) and isinstance(answer, dict)
            else _redacted(answer, self._redact)
        )
        self._store(query, redacted)

    def _store(self, query: q.Query[Any], redacted: codec.Json) -> None:
        with self._lock:
            self._answers[self._redact(query.key)] = redacted


def _is_binary(data: bytes) -> bool:
    """Whether it is not UTF-8 or contains NUL bytes: patterns over several lines do not match in such data."""
    try:
        return "\0" in data.decode("utf-8")
    except UnicodeDecodeError:
        return True


def today(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d")


def _redacted(answer: codec.Json, redact: Redactor) -> codec.Json:
    if isinstance(answer, str):
        return redact(answer)
    if isinstance(answer, list):
        texts = [item for item in answer if isinstance(item, str)]
        # Lines of one text are redacted together: a private key spans several.
        return (
            redact("\n".join(texts)).split("\n")
            if texts and len(texts) == len(answer)
            else [_redacted(item, redact) for item in answer]
        )
    if isinstance(answer, dict):
        return {name: _redacted(value, redact) for name, value in answer.items()}
    return answer


def _load(directory: str, depth: int) -> dict[str, codec.Json]:
    if depth > 8:
        raise UsageError(f"{directory}: recordings extend each other in a loop")
    try:
        about = tomllib.loads(_text(os.path.join(directory, "about.toml")))
        answers = _answers(directory)
    except (CouldNotLook, ValueError, RecursionError) as error:
        raise UsageError(f"{directory} is not a recording: {error}") from None
    if about.get("format") != FORMAT:
        raise UsageError(
            f"{directory} is a recording of format {about.get('format')!r}; this doctor reads format {FORMAT}"
        )
    base = about.get("extends")
    inherited = _load(os.path.normpath(os.path.join(directory, str(base))), depth + 1) if base else {}
    return {**inherited, **answers}


def _answers(directory: str) -> dict[str, codec.Json]:
    merged: dict[str, codec.Json] = {}
    names = [name for name in LocalMachine({}).listdir(directory) if name.endswith(".json")]
    for name in names:
        answers = json.loads(_text(os.path.join(directory, name)))
        if not isinstance(answers, dict):
            raise ValueError(f"{name} is not a JSON object")
        merged.update(answers)
    if not names:
        raise ValueError("it has no machine.json")
    return merged


def _text(path: str) -> str:
    """The text of a file in a bundle. A bundle may come from anyone, so a FIFO or a device is refused."""
    data = LocalMachine({}).read_bytes(path, limit_bytes=LIMIT_BYTES + 1)
    if len(data) > LIMIT_BYTES:
        raise ValueError(f"{path} is larger than {LIMIT_BYTES >> 20} MiB")
    return data.decode("utf-8", "surrogateescape")


def _replace(path: str, text: str) -> None:
    with replacing(path, mode=0o600) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
