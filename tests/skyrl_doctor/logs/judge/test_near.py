"""What a signature needs near it, asked for by one line or by thousands."""

from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.logs.judge.files import scan
from skyrl_doctor.logs.judge.scanner import Scan, Scanner
from skyrl_doctor.logs.judge.unmatched import COUNTED
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import known

PATTERNS = Patterns(known())
NEAR = b"    loss.backward()\n"
ERROR = b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.16 GiB.\n"
OTHERS = (b"fine\n" * 100, b"x" * 5000 + b"\n", b"KeyError: 'x'\n", b"No available worker slots\n")


def one_by_one(lines: list[bytes]) -> Scan:
    scanner = Scanner("x.log", PATTERNS)
    for line in lines:
        scanner.feed(line)
        scanner.flush()
    return scanner.finish()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([(NEAR,), (ERROR,) * 45, (ERROR,), *((other,) for other in OTHERS)]), max_size=8))
def test_many_that_ask_at_once_are_told_what_one_is(parts: list[tuple[bytes, ...]]) -> None:
    lines = [line for part in parts for line in part]
    assert scan("x.log", lines, PATTERNS) == one_by_one(lines)


def test_what_was_counted_to_the_end_hides_nothing_else() -> None:
    found = scan("x.log", [ERROR * (COUNTED + 500), b"KeyError: 'x'\n", ERROR * 500, NEAR, ERROR], PATTERNS)
    assert found.suspect is not None
    assert (found.suspect.number, found.suspect.text) == (COUNTED + 501, "KeyError: 'x'")
    backward = [hit.line.number for hit in found.hits if hit.known.name == "MEM002"]
    assert backward == [COUNTED + 1003]
    assert {count for entry, count in found.counts.items() if entry.name == "MEM001" and not entry.signature.near} == {
        COUNTED
    }
