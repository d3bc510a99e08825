"""The parser's work grows with the length of the reply, not with its square."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.agent import call_parser
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Ended

AGENT = str(Path(call_parser.__file__).parent)
HEAD = "<function=f>\n<parameter=p>"
HOSTILE: dict[str, Callable[[int], str]] = {
    "open functions": lambda n: "<function=" * n,
    "functions that open nothing": lambda n: "<function=f> x" * n,
    "functions, then space": lambda n: "<function=f>" + " " * n + "x",
    "calls": lambda n: "<function=f></function>" * n,
    "unclosed values": lambda n: HEAD * n,
    "unclosed values in thinking": lambda n: (HEAD + "</think>") * n,
    "thinking": lambda n: "<think></think>" * n + HEAD,
    "open thinking": lambda n: "<think>" * n,
    "closed thinking": lambda n: "</think>" * n,
    "thinking before a far call": lambda n: "<think>x</think>" * n + "<function=f></function>",
    "closing tags": lambda n: HEAD + "</parameter>x" * n,
    "closing tags, then space": lambda n: HEAD + "</parameter>" + "\n" * n,
    "closing tags and space": lambda n: HEAD + "</parameter>   " * n,
    "open parameters": lambda n: "<function=f>" + "<parameter=" * n,
    "broken parameters": lambda n: "<function=f>" + "<parameter=p=v" * n,
    "many parameters": lambda n: (
        "<function=f>" + "".join(f"<parameter={i}>v</parameter>" for i in range(n)) + "</function>"
    ),
    "ends of end tags": lambda n: "</functio" * n,
    "brackets": lambda n: "<" * n,
    "brackets in a value": lambda n: HEAD + "<" * n + "</parameter>",
    "space": lambda n: " " * n,
    "values of brackets": lambda n: (
        "<function=f>" + "".join(f"<parameter={i}>{'<' * 40}</parameter>" for i in range(n)) + "</function>"
    ),
}
PIECES = (
    "<function=f>",
    "<function=",
    "<parameter=p>",
    "</parameter>",
    "</function>",
    "<think>",
    "</think>",
    "<",
    "\n",
    "x",
)


def lines_run(text: str, ended: Ended) -> int:
    """How many lines of its own the parser runs for a text; finalisers and the cache of `re` run beside it now and then."""
    count = 0

    def trace(frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith(AGENT):
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        parse_call(text, ended=ended)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("ended", Ended)
@pytest.mark.parametrize("name", HOSTILE)
def test_twice_the_text_takes_at_most_twice_the_steps(name: str, ended: Ended) -> None:
    make = HOSTILE[name]
    assert lines_run(make(400), ended) <= 2 * lines_run(make(200), ended) + 20


@pytest.mark.parametrize("ended", Ended)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_long_hostile_reply_comes_to_an_end(name: str, ended: Ended) -> None:
    """A quadratic search inside one step shows here: at this length it takes minutes."""
    parse_call(HOSTILE[name](100_000), ended=ended)


@given(st.lists(st.sampled_from(PIECES), max_size=4), st.lists(st.sampled_from(PIECES), min_size=1, max_size=6))
def test_any_text_over_and_over_takes_steps_in_proportion(head: list[str], pieces: list[str]) -> None:
    start, unit = "".join(head), "".join(pieces)
    assert lines_run(start + unit * 60, Ended.STOP) <= 2 * lines_run(start + unit * 30, Ended.STOP) + 60


@given(st.lists(st.sampled_from(PIECES), max_size=4), st.lists(st.sampled_from(PIECES), min_size=1, max_size=6))
def test_any_text_very_often_comes_to_an_end(head: list[str], pieces: list[str]) -> None:
    parse_call("".join(head) + "".join(pieces) * 5_000)
