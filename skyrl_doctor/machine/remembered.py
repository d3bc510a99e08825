"""A machine that is asked for several runs: what takes a process or a request is asked once."""

from typing import Any, TypeVar

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.http_query import Get

T = TypeVar("T")
SLOW = (q.Run, q.Ask, Get)


class RememberedMachine(Machine):
    """Gives the first answer again to the same query, also where the answer was a refusal."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._answers: dict[str, Any] = {}

    def answer(self, query: q.Query[T]) -> T:
        if not isinstance(query, SLOW):
            return self._machine.answer(query)
        key = repr(query)  # with its limit and its environment
        if key not in self._answers:
            self._answers[key] = self._first(query)
        answer = self._answers[key]
        if isinstance(answer, CouldNotLook):
            raise answer
        return answer  # type: ignore[no-any-return] # what this query was answered

    def _first(self, query: q.Query[T]) -> T | CouldNotLook:
        try:
            return self._machine.answer(query)
        except CouldNotLook as refusal:
            return refusal

    def close(self) -> None:
        self._machine.close()
