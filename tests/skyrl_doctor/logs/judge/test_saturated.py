"""A line that comes again when its signature was counted to its end is asked for little, and the answer is the same."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.logs.judge.files import scan
from skyrl_doctor.logs.judge.saturated import Spent
from skyrl_doctor.logs.judge.scanner import Scan
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import known

PATTERNS = Patterns(known())
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


def found(text: bytes) -> Scan:
    return scan("x.log", [text], PATTERNS)


@pytest.fixture(autouse=True, scope="module")
def _counts_to_few() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skyrl_doctor.logs.judge.scanner.COUNTED", ENOUGH)
        yield


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=40))
def test_what_is_skipped_would_have_shown_nothing(lines: list[bytes]) -> None:
    text = OOM * ENOUGH + b"".join(lines)
    skipping = found(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Spent, "skips", lambda *_: False)
        patch.setattr(Spent, "holds", lambda *_: False)
        assert found(text) == skipping


def test_a_near_pattern_that_comes_later_is_seen() -> None:
    text = OOM * 50 + b"loss.backward()\n" + OOM
    assert [hit.line.number for hit in found(text).hits if hit.known.name == "MEM002"] == [52]
