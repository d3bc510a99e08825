"""Blocks hold whole lines; a line longer than a block is cut at a window, which comes again."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.logs.read.blocks import Block, Blocks

WINDOWS, WINDOW, OVERLAP = 3, 4, 4


def blocks(*chunks: bytes) -> list[Block]:
    collecting = Blocks(WINDOWS, WINDOW, OVERLAP)
    return [block for chunk in chunks for block in collecting.feed(chunk)] + list(collecting.finish())


@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\r", b"bcdefg", b"h" * 40])).map(b"".join), st.lists(st.integers(0, 400))
)
def test_blocks_do_not_depend_on_chunks(text: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    assert blocks(*(text[start:end] for start, end in itertools.pairwise(places))) == blocks(text)


def test_blocks_hold_whole_lines_and_their_place() -> None:
    assert blocks(b"one\ntwo\nthree\nfour\nfive") == [Block(0, b"one\ntwo\nthree\n"), Block(14, b"four\nfive")]


def test_a_line_longer_than_a_block_is_cut_with_an_overlap() -> None:
    assert blocks(b"a" * 14 + b"bc" + b"d" * 8 + b"\ne") == [
        Block(0, b"a" * 14 + b"bc", cut=True),
        Block(12, b"aabc" + b"d" * 8 + b"\ne", fresh=False),
    ]


def test_a_progress_bar_may_end_a_block_and_the_next_is_not_fresh() -> None:
    assert blocks(b"0123456789abc\rrest") == [Block(0, b"0123456789abc\r"), Block(14, b"rest", fresh=False)]


def test_flush_gives_what_is_whole() -> None:
    collecting = Blocks(WINDOWS, WINDOW, OVERLAP)
    assert list(collecting.feed(b"one\ntw")) == []
    assert list(collecting.flush()) == [Block(0, b"one\n")]
    assert list(collecting.flush()) == []
    assert list(collecting.feed(b"o\n")) == []
    assert list(collecting.flush()) == [Block(4, b"two\n")]
    assert list(collecting.finish()) == []
