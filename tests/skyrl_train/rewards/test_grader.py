"""What the grader makes of the answers of its programs."""

import asyncio
import base64
import json
import zlib
from typing import Any

import pytest

from fakes.sandboxes import EchoSandbox
from skyrl_train.contracts.rewards.suite_run import SuiteRun
from skyrl_train.rewards.grader import NO_CHANGES, GradedRun, GraderError, changes_in, graded_run

CANARIES = {"t.py": ["t.py::test_x"]}
ANSWER = {
    "exit_code": 1, "timed_out": False, "duration_s": 1.5, "output": "tail", "truncated": True, "finished": True,
    "results": [["FAILED", "t.py::b"], ["FAILED", "t.py::test_x"], ["PASSED", "t.py::a"], ["PASSED", "t.py::b"]],
    "canaries": CANARIES, "ignored": ["x"], "changed": [],
}  # fmt: skip
RUN = SuiteRun(output="short test summary info\nPASSED t.py::a\nPASSED t.py::b\nFAILED t.py::b\n", exit_code=1)


class Answering(EchoSandbox):
    """Its programs print a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    async def program(self, *_data: bytes, **_limit: float) -> str:
        return self.text


def packed(answer: object) -> str:
    return base64.b64encode(zlib.compress(json.dumps(answer).encode())).decode()


def graded(**changed: Any) -> GradedRun:
    sandbox = Answering(packed({**ANSWER, **changed}))
    return asyncio.run(graded_run(sandbox, NO_CHANGES, names=(), edits=(), limit_s=1))


def test_results_are_a_summary_without_canaries_whose_last_status_counts() -> None:
    assert graded() == GradedRun(run=RUN, ended=True, duration_s=1.5, ignored=("x",))


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"timed_out": True}, "the tests timed out"),
        ({"results": None}, "pytest did not start, or more than once; exit status 1"),
        ({"finished": False}, "the tests ended before pytest did; exit status 1"),
        ({"exit_code": 137}, "the tests ended before pytest did; exit status 137"),
        ({"results": [["PASSED", "t.py::test_x"]]}, "a test that must fail is PASSED: the code under test changes the results"),
        ({"results": [["FAILED", "t.py::test_x"], ["PASSED", "t.py::test_x"]]}, "a test that must fail is PASSED: the code under test changes the results"),
        ({"results": [["PASSED", "t.py::a"]]}, "a test that must fail is not run: the code under test changes the results"),
        ({"canaries": {}}, "no test that must fail was run"),
        ({"canaries": {**CANARIES, "u.py": ["u.py::test_y"]}}, ""),
    ],
)  # fmt: skip
def test_why_results_are_not_sound(changed: dict[str, Any], fault: str) -> None:
    assert graded(**changed).fault == fault


@pytest.mark.parametrize(
    "text", ["", "no base64", "AAAA", packed([1]), packed({"results": 5}), packed({**ANSWER, "results": [[1, 2]]})]
)
def test_an_unreadable_answer_is_an_error(text: str) -> None:
    with pytest.raises(GraderError):
        asyncio.run(graded_run(Answering(text), NO_CHANGES, names=(), edits=(), limit_s=1))


@pytest.mark.parametrize(
    "answer",
    [{}, {"paths": 5, "files": [], "left_out": []}, {"paths": [], "files": {}, "left_out": []}, {"too_large": "much"}],
)
def test_changes_of_a_wrong_form_are_an_error(answer: object) -> None:
    with pytest.raises(GraderError):
        asyncio.run(changes_in(Answering(packed(answer)), since=0))


def test_a_bomb_is_an_error() -> None:
    bomb = base64.b64encode(zlib.compress(b"[" + b" " * (300 << 20) + b"]", 9)).decode()
    with pytest.raises(GraderError):
        asyncio.run(changes_in(Answering(bomb), since=0))
