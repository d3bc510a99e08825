"""A machine from a directory: the test fixture and the user's support bundle are one format.

about.toml     where it comes from: source, date, what was edited; `extends` names a recording beside it
*.json         query -> answer; texts as lists of lines, so that a difference is readable
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

T = TypeVar("T")
FORMAT = 1
LIMIT_BYTES = 64 * MIB


class NotRecorded(BaseException):
    """A test's recording has a hole. Not an Exception: no handler may turn it into a verdict."""


class RecordedMachine(Machine):
    """Answers from a recording. A hole is UNKNOWN for a user, and stops a strict test."""

    def __init__(self, answers: Mapping[str, codec.Json], *, name: str = "recording", strict: bool = False) -> None:
        self._answers = dict(answers)
        self._name = name
        self._strict = strict

    @classmethod
    def load(cls, directory: str, *, strict: bool = False) -> "RecordedMachine":
        return cls(_load(directory, depth=0), name=directory, strict=strict)

    def but(self, changes: Mapping[str, codec.Json]) -> "RecordedMachine":
        """This machine with some answers changed; None takes an answer away."""
        merged = {**self._answers, **changes}
        kept = {key: value for key, value in merged.items() if value is not None}
        return RecordedMachine(kept, name=self._name, strict=self._strict)

    def answer(self, query: q.Query[T]) -> T:
        if query.key not in self._answers:
            if self._strict:
                raise NotRecorded(f"{self._name} holds no answer to {query.key!r}")
            raise CouldNotLook(f"not in this recording ({self._name}): {query.key}")
        return codec.decode(query, self._answers[query.key])


class Recorder(Machine):
    """Asks another machine and keeps what it says, redacted as it is written."""

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
        if isinstance(answer, bytes) and _is_binary(answer):  # what is read by position keeps its places
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
        """Writes the bundle; machine.json comes last and by rename, so a directory with one is whole."""
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
            else _each(answer, self._redact)
        )
        self._store(query, redacted)

    def _store(self, query: q.Query[Any], redacted: codec.Json) -> None:
        with self._lock:
            self._answers[self._redact(query.key)] = redacted


def _is_binary(data: bytes) -> bool:
    """Whether a bundle holds it in base64, or as text with NUL bytes: there no pattern that spans lines finds its way."""
    try:
        return "\0" in data.decode("utf-8")
    except UnicodeDecodeError:
        return True


def today(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d")


def _each(answer: codec.Json, redact: Redactor) -> codec.Json:
    if isinstance(answer, str):
        return redact(answer)
    if isinstance(answer, list):
        texts = [item for item in answer if isinstance(item, str)]
        # Lines of one text are redacted together: a private key spans several.
        return (
            redact("\n".join(texts)).split("\n")
            if texts and len(texts) == len(answer)
            else [_each(item, redact) for item in answer]
        )
    if isinstance(answer, dict):
        return {name: _each(value, redact) for name, value in answer.items()}
    return answer


def _load(directory: str, depth: int) -> dict[str, codec.Json]:
    if depth > 8:
        raise UsageError(f"{directory}: recordings extend each other in a circle")
    try:
        about = tomllib.loads(_text(os.path.join(directory, "about.toml")))
        answers = _answers(directory)
    except (CouldNotLook, ValueError, RecursionError) as error:
        raise UsageError(f"{directory} is no recorded machine: {error}") from None
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
            raise ValueError(f"{name} holds no table of answers")
        merged.update(answers)
    if not names:
        raise ValueError("it holds no machine.json")
    return merged


def _text(path: str) -> str:
    """A file of a bundle, which may come from anybody: never a FIFO or a device. Bytes that are no text come through."""
    data = LocalMachine({}).read_bytes(path, limit_bytes=LIMIT_BYTES + 1)
    if len(data) > LIMIT_BYTES:
        raise ValueError(f"{path} is larger than {LIMIT_BYTES >> 20} MiB")
    return data.decode("utf-8", "surrogateescape")


def _replace(path: str, text: str) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.replace(temporary, path)
