"""Of steps that end one after the other only the last are judged; what they outlive is the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.judge.scanner import Scanner
from skyrl_doctor.logs.judge.tally import Scan
from skyrl_doctor.logs.match.engines import ENGINES
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import load_signatures

PATTERNS = Patterns(load_signatures())
LINES = (
    b"step:7 - actor/pg_loss:0.1\n",
    b"12:49:17 SUCCESS Step 8 | Time: 61.21s\n",
    b"\x1b[36m(T pid=7)\x1b[0m st\x1b[1mep:7 - actor/pg_loss:0.1\n",
    b"KeyError: 'x' step:7 - a\n",
    b"2026-03-02 09:14:03,500 step:8 - actor/pg_loss:0.1\n",
    b"step: of a ladder - no step\n",
    b"step:9 - ValueError: odd\n",
    b"skyrl-doctor watch: step:9 - actor/pg_loss:0.1\n",
    b"KeyError: 'x'\n",
    b"No available worker slots\n",
    b"Traceback (most recent call last):\n",
)


def whole(text: bytes) -> Scan:
    return scan_chunks("x.log", [text], PATTERNS)


def one_by_one(lines: list[bytes]) -> Scan:
    scanner = Scanner("x.log", PATTERNS)
    for line in lines:
        scanner.feed(line)
        scanner.flush()
    return scanner.finish()


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=30))
def test_many_steps_at_once_are_as_one_after_the_other(lines: list[bytes]) -> None:
    assert whole(b"".join(lines)) == one_by_one(lines)


@pytest.mark.parametrize("engine_name", ENGINES)
def test_steps_that_only_a_clean_line_shows_are_found(engine_name: str) -> None:
    text = b"st\x1b[1mep:1 - a\n" * 4 + b"step:2 - a\n" + b"ste\x00p:3 - a\n" * 2
    found = scan_chunks("x.log", [text], Patterns(load_signatures(), engine_name=engine_name))
    assert [mark.number for mark in found.steps] == [5, 6, 7]


def test_a_log_of_steps_keeps_the_clocks_of_its_last() -> None:
    text = b"".join(b"2026-03-02 09:14:%02d,000 step:%d - a:1\n" % (at % 60, at) for at in range(5000))
    assert [(mark.number, mark.clock and mark.clock.second % 60) for mark in whole(text).steps] == [
        (4998, 17.0),
        (4999, 18.0),
        (5000, 19.0),
    ]
