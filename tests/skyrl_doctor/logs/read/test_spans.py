"""A file read in spans gives the blocks that its bytes give when they come as chunks."""

import os
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.logs.read.blocks import Block, Blocks
from skyrl_doctor.logs.read.spans import find_spans

WINDOWS, WINDOW, OVERLAP = 3, 4, 4
SIZE = WINDOWS * WINDOW + OVERLAP


def spanned(text: bytes, tail: int) -> list[Block]:
    with tempfile.TemporaryFile() as file:
        file.write(text)
        file.flush()
        found = [span.read() for span in find_spans(file.fileno(), SIZE, OVERLAP, tail)]
    return [block for block in found if block.data]


@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\r", b"bcdefg", b"h" * 40, b"\r\n", b"ij\n"])).map(b"".join),
    st.integers(1, SIZE + 3),
)
def test_spans_are_the_blocks_of_chunks(text: bytes, tail: int) -> None:
    cutting = Blocks(WINDOWS, WINDOW, OVERLAP)
    assert spanned(text, tail) == [*cutting.feed(text), *cutting.finish()]


def test_a_file_that_is_cut_while_it_is_read_ends_there(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\ntwo\nthree\nfour\nfive\n" * 3)
    with path.open("rb") as file:
        planned = find_spans(file.fileno(), SIZE, OVERLAP, 4)
        first, second = next(planned), next(planned)
        os.truncate(path, 20)
        assert first.read().data == b"one\ntwo\nthree\n"
        assert second.read().data == b"four\nf"
        assert [span.read().data for span in planned] == [b""]
