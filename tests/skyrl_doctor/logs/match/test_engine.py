"""Line feeds are counted right, whoever counts them."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.logs.match.candidates import Candidates
from skyrl_doctor.logs.match.engine import FEED_INTERVAL
from skyrl_doctor.logs.match.engines import ENGINES, make_engine
from skyrl_doctor.logs.read.blocks import Block

BY_ENGINE = {name: make_engine(["abcdef"], name) for name in ENGINES}
LONG = 1 << 16
PARTS = [b"\n", b"\n" * FEED_INTERVAL, b"\r\n", b"x" * 300, b"\x00", b"\xff\n", b"y" * 5000]


def repeated(parts: list[bytes]) -> bytes:
    text = b"".join(parts)
    return text * (LONG // len(text) + 1)


TEXTS = st.lists(st.one_of(st.sampled_from(PARTS), st.binary(min_size=1, max_size=9)), min_size=1, max_size=12).map(
    repeated
)


def counted(text: bytes) -> list[int]:
    feeds = [at + 1 for at, byte in enumerate(text) if byte == ord("\n")]
    return feeds[FEED_INTERVAL - 1 :: FEED_INTERVAL]


@settings(max_examples=40, deadline=None)
@given(TEXTS, st.sampled_from(ENGINES))
def test_each_so_many_are_found_or_none(text: bytes, name: str) -> None:
    found = BY_ENGINE[name].feed_ends(text)
    assert list(found) == (counted(text) if name == "hyperscan" else [])


@pytest.mark.parametrize("text", [b"", b"\n", b"\n" * (FEED_INTERVAL + 1), b"x" * (LONG - 1)])
def test_in_short_texts_they_are_counted_at_once(text: bytes) -> None:
    assert [list(BY_ENGINE[name].feed_ends(text)) for name in ENGINES] == [[], []]


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.lists(st.integers(0, LONG - 1), max_size=9))
def test_what_ends_before_a_place_is_the_same_with_and_without(text: bytes, places: list[int]) -> None:
    block, found = Block(0, text), [(place, 1) for place in sorted(places)]
    seen = Candidates.of(block, found, counted(text))
    assert list(seen.feeds_before) == [text.count(b"\n", 0, place) for place, _ in found]
    assert seen.feeds == text.count(b"\n")
    assert seen == Candidates.of(block, found)


def test_threads_share_an_engine() -> None:
    text = b"".join(b"%d\n" % number for number in range(LONG // 4))
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(make_engine(["abcdef"], "hyperscan").feed_ends, [text] * 16)) == [counted(text)] * 16
