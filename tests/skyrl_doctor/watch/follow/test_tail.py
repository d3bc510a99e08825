"""One log, read on: any chunking of writes gives the same lines, and each byte is given once."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.watch.follow.tail import OVERLAP, PIECE, Lines, Mark, Tail


def drained(tail: Tail) -> list[Lines]:
    found: list[Lines] = []
    while (lines := tail.read()) is not None:
        found += [lines] if lines.text else []
    return found


TEXT = st.lists(st.sampled_from([b"step:1 - a:1", b"", b"x" * 700, b"\xff\x00", b"0/8 [00:01<?"]), max_size=12)


@settings(max_examples=60)
@given(TEXT, st.sampled_from([b"\n", b"\r", b"\r\n"]), st.lists(st.integers(1, 900), max_size=12), st.booleans())
def test_chunks_do_not_matter(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], end: bytes, cuts: list[int], ended: bool
) -> None:
    whole = end.join(parts) + (end if ended else b"")
    path = tmp_path_factory.mktemp("tail") / "a.log"
    path.touch()
    tail, given_, at = Tail(str(path)), [], 0
    for cut in [*cuts, len(whole)]:
        with path.open("ab") as file:
            file.write(whole[at : at + cut])
        at += cut
        given_ += drained(tail)
    last = tail.unfinished()
    tail.close()
    assert b"".join(lines.text for lines in given_) + (last.text if last else b"") == whole
    assert all(lines.text.endswith((b"\n", b"\r")) for lines in given_)
    numbers = [1]
    for lines in given_:
        numbers.append(numbers[-1] + lines.text.count(b"\n"))
    assert [lines.number for lines in given_] == numbers[:-1]


def test_a_mark_continues_where_it_was_set_and_never_in_the_middle_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\ntwo\nthr")
    tail = Tail(str(path))
    assert drained(tail) == [Lines(str(path), 1, b"one\ntwo\n")]
    mark = tail.mark
    tail.close()
    assert (mark.offset, mark.lines) == (8, 2)
    path.write_bytes(b"one\ntwo\nthree\n")
    tail = Tail(str(path), mark)
    assert drained(tail) == [Lines(str(path), 3, b"three\n")]
    tail.close()


def test_a_mark_of_another_file_counts_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\n")
    found = path.stat()
    foreign = Mark(device=found.st_dev, inode=found.st_ino + 1, offset=2, lines=1, head="ff")
    reused = Mark(device=found.st_dev, inode=found.st_ino, offset=2, lines=1, head=b"xyz".hex())
    for mark in (foreign, reused):
        tail = Tail(str(path), mark)
        assert drained(tail) == [Lines(str(path), 1, b"one\n")]
        tail.close()


def test_a_file_cut_short_or_written_anew_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\ntwo\n")
    tail = Tail(str(path))
    drained(tail)
    path.write_bytes(b"new\n")
    assert drained(tail) == [Lines(str(path), 1, b"new\n")]
    assert tail.restarted == "it was truncated"
    with path.open("r+b") as file:
        file.write(b"longer than it was\n")
    assert drained(tail) == [Lines(str(path), 1, b"longer than it was\n")]
    assert tail.restarted == "it was overwritten"
    tail.close()


def test_a_line_without_end_is_cut_and_no_more_than_a_piece_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"x" * (PIECE + 10) + b"y")
    tail = Tail(str(path))
    (first,) = drained(tail)
    rest = tail.unfinished()
    tail.close()
    assert len(first.text) == PIECE
    assert rest == Lines(str(path), 1, b"x" * (OVERLAP + 10) + b"y", open=True)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.log")
    with pytest.raises(OSError, match="is not a regular file"):
        Tail(str(tmp_path / "a.log"))
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="is not a regular file"):
        Tail("/dev/full")
    assert len(os.listdir("/proc/self/fd")) <= before  # others of this process may close theirs
