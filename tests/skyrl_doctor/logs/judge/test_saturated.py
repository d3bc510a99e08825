"""A line that comes again when its signature was counted to its end is asked for little, and the answer is the same."""

from collections.abc import Callable, Set

from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.logs.judge.saturated import Distance, SaturatedLines
from skyrl_doctor.logs.judge.scanner import Scanner
from skyrl_doctor.logs.judge.tally import Scan
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import load_signatures

MakeSaturated = Callable[[Patterns, Distance, Set[int]], SaturatedLines]
PATTERNS = Patterns(load_signatures())
ENOUGH = 20
OOM = b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.\n"
LINES = (
    OOM,
    OOM.replace(b"1.00", b"2.00"),
    b"loss.backward()\n",
    b"fine\n" * 90,
    b"step:3 - a\n",
    b"step:3 - No available worker slots\n",
    b"No available worker slots CUDA out of memory. Tried to allocate 1 GiB\n",
    b"OBSERVATION:\n",
    b"2026-03-02 09:14:03,120 INFO next\n",
)


def skip_nothing(patterns: Patterns, distance: Distance, saturated: Set[int]) -> SaturatedLines:
    return SaturatedLines(patterns, distance, frozenset())


def found(text: bytes, make_saturated: MakeSaturated = SaturatedLines) -> Scan:
    scanner = Scanner("x.log", PATTERNS, count_limit=ENOUGH, make_saturated=make_saturated)
    scanner.feed(text)
    return scanner.finish()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=40))
def test_what_is_skipped_would_have_shown_nothing(lines: list[bytes]) -> None:
    text = OOM * ENOUGH + b"".join(lines)
    assert found(text) == found(text, skip_nothing)


def test_a_near_pattern_that_comes_later_is_seen() -> None:
    text = OOM * 50 + b"loss.backward()\n" + OOM
    assert [hit.line.number for hit in found(text).hits if hit.failure.name == "MEM002"] == [52]
