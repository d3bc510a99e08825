"""A machine on which some files have another text: the doctor judges an edit before it is written."""

from collections.abc import Mapping
from typing import TypeVar, cast

from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.base import Machine

T = TypeVar("T")


class Overlay(Machine):
    """Answers reads of these files from `texts`; passes every other query on."""

    def __init__(self, inner: Machine, texts: Mapping[str, str]) -> None:
        self._inner = inner
        self._texts = texts

    def answer(self, query: q.Query[T]) -> T:
        if isinstance(query, q.Read) and query.path in self._texts:
            data = self._texts[query.path].encode()
            return cast(T, data[query.offset : query.offset + query.limit_bytes])
        return self._inner.answer(query)

    def close(self) -> None:
        self._inner.close()
