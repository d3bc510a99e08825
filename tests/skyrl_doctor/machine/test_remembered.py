"""One machine for many runs: processes and requests are asked once, files and times each time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.remembered import RememberedMachine


class Counting(Machine):
    def __init__(self) -> None:
        self.asked: list[object] = []

    def answer(self, query: q.Query[Any]) -> Any:
        self.asked.append(query)
        if isinstance(query, q.Run) and query.argv == ("lost",):
            raise CouldNotLook("lost")
        return len(self.asked)


def test_a_process_is_asked_once_and_another_environment_or_limit_anew() -> None:
    machine = RememberedMachine(Counting())
    queries = [q.Run(("a",), 1.0), q.Run(("a",), 1.0), q.Run(("a",), 2.0), q.Run(("a",), 1.0, {"A": "1"})]
    assert [machine.answer(query) for query in queries] == [1, 1, 2, 3]


def test_a_refusal_is_remembered_too() -> None:
    counting = Counting()
    machine = RememberedMachine(counting)
    for _ in range(2):
        with pytest.raises(CouldNotLook, match="lost"):
            machine.run(("lost",), limit_s=1.0)
    assert len(counting.asked) == 1


def test_a_file_is_read_each_time() -> None:
    machine = RememberedMachine(Counting())
    assert [machine.answer(q.Read("/a", 10)) for _ in range(2)] == [1, 2]


def test_who_asks_while_the_same_question_is_open_gets_its_answer() -> None:
    asked, may_answer = threading.Event(), threading.Event()

    class Slow(Counting):
        def answer(self, query: q.Query[Any]) -> Any:
            asked.set()
            may_answer.wait(10)
            return super().answer(query)

    slow = Slow()
    machine = RememberedMachine(slow)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(machine.answer, q.Run(("a",), 1.0))
        asked.wait(10)
        second = pool.submit(machine.answer, q.Run(("a",), 1.0))
        may_answer.set()
        assert (first.result(10), second.result(10), len(slow.asked)) == (1, 1, 1)
