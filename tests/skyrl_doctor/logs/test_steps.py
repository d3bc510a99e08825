"""Of steps that end one after the other only the last are judged; what they outlive is the same."""

from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.logs.engine import Place
from skyrl_doctor.logs.known import known
from skyrl_doctor.logs.patterns import Patterns
from skyrl_doctor.logs.scan import Scan, Scanner
from skyrl_doctor.logs.steps import thinned
from skyrl_doctor.logs.whole import scan

PATTERNS = Patterns(known())
LINES = (
    b"step:7 - actor/pg_loss:0.1\n",
    b"2026-03-02 09:14:03,500 step:8 - actor/pg_loss:0.1\n",
    b"step: of a ladder - no step\n",
    b"step:9 - ValueError: odd\n",
    b"skyrl-doctor watch: step:9 - actor/pg_loss:0.1\n",
    b"KeyError: 'x'\n",
    b"No available worker slots\n",
    b"Traceback (most recent call last):\n",
)
LINE = b"step:1 - a\n"


def whole(text: bytes) -> Scan:
    return scan("x.log", [text], PATTERNS)


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


def test_the_first_and_the_last_of_many_are_kept() -> None:
    places: list[Place] = [(at * len(LINE), 5) for at in range(9)]
    kept = thinned(LINE * 9, places, 5, bool)
    assert kept == [places[0], *places[-3:]]
    assert thinned(LINE * 9, [*places, (99, 1)], 5, bool) == [*kept, (99, 1)]
    assert thinned(LINE * 9, places, 5, lambda _: False) == places


def test_a_log_of_steps_keeps_the_clocks_of_its_last() -> None:
    text = b"".join(b"2026-03-02 09:14:%02d,000 step:%d - a:1\n" % (at % 60, at) for at in range(5000))
    assert [(mark.number, mark.clock and mark.clock.second % 60) for mark in whole(text).steps] == [
        (4998, 17.0),
        (4999, 18.0),
        (5000, 19.0),
    ]
