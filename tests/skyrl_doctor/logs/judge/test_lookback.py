"""What a signature needs near it, asked for by one line or by thousands."""

from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.judge.hits import COUNT_LIMIT
from skyrl_doctor.logs.judge.scanner import Scanner
from skyrl_doctor.logs.judge.tally import Scan
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import load_signatures

PATTERNS = Patterns(load_signatures())
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
    assert scan_chunks("x.log", lines, PATTERNS) == one_by_one(lines)


def test_what_was_counted_to_the_end_hides_nothing_else() -> None:
    found = scan_chunks("x.log", [ERROR * (COUNT_LIMIT + 500), b"KeyError: 'x'\n", ERROR * 500, NEAR, ERROR], PATTERNS)
    assert found.suspect is not None
    assert (found.suspect.number, found.suspect.text) == (COUNT_LIMIT + 501, "KeyError: 'x'")
    backward = [hit.line.number for hit in found.hits if hit.failure.name == "MEM002"]
    assert backward == [COUNT_LIMIT + 1003]
    assert {count for entry, count in found.counts.items() if entry.name == "MEM001" and not entry.signature.near} == {
        COUNT_LIMIT
    }
