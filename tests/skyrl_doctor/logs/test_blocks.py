"""Where blocks end depends on the bytes alone."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.logs.blocks import Block, Blocks

SIZE, OVERLAP = 16, 4


def blocks(*chunks: bytes) -> list[Block]:
    collecting = Blocks(SIZE, OVERLAP)
    return [block for chunk in chunks for block in collecting.feed(chunk)] + list(collecting.finish())


@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\r", b"bcdefg", b"h" * 40])).map(b"".join), st.lists(st.integers(0, 400))
)
def test_blocks_do_not_depend_on_chunks(text: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    assert blocks(*(text[start:end] for start, end in itertools.pairwise(places))) == blocks(text)


def test_blocks_hold_whole_lines_and_their_number() -> None:
    assert blocks(b"one\ntwo\nthree\nfour\nfive") == [Block(1, b"one\ntwo\nthree\n"), Block(4, b"four\nfive")]


def test_a_line_longer_than_a_block_is_cut_with_an_overlap() -> None:
    assert blocks(b"a" * 14 + b"bc" + b"d" * 8 + b"\ne") == [
        Block(1, b"a" * 14 + b"bc"),
        Block(1, b"aabc" + b"d" * 8 + b"\ne"),
    ]


def test_colour_codes_and_nul_are_taken_out() -> None:
    assert blocks(b"\x1b[1mx\x00y\x1b[0m\n") == [Block(1, b"xy\n")]
