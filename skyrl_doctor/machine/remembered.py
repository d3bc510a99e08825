"""A machine that is asked by several readers: what takes a process or a request is asked once."""

import threading
from typing import Any, TypeVar

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.http_query import Get

T = TypeVar("T")
SLOW = (q.Run, q.Ask, Get)


class _Answer:
    """Who asks while the same query is under way waits for its answer."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.is_known = False
        self.value: Any = None


class RememberedMachine(Machine):
    """Gives the first answer again to the same query, also where the answer was a refusal."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._answers: dict[str, _Answer] = {}

    def answer(self, query: q.Query[T]) -> T:
        if not isinstance(query, SLOW):
            return self._machine.answer(query)
        answer = self._answers.setdefault(repr(query), _Answer())  # with its limit and its environment
        with answer.lock:
            if not answer.is_known:
                answer.value, answer.is_known = self._first(query), True
        if isinstance(answer.value, CouldNotLook):
            raise answer.value
        return answer.value  # type: ignore[no-any-return] # what this query was answered

    def _first(self, query: q.Query[T]) -> T | CouldNotLook:
        try:
            return self._machine.answer(query)
        except CouldNotLook as refusal:
            return refusal

    def close(self) -> None:
        self._machine.close()
