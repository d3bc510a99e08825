"""bbolt files: what was written is read, and nothing crashes the reader or is taken for whole."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.podman_store import PAGE, bolt
from skyrl_doctor.facts.podman.bolt import Bucket, DamageError, Meta, read_bucket, read_meta

TREES = st.recursive(
    st.dictionaries(st.binary(min_size=1, max_size=8), st.binary(max_size=16), max_size=4),
    lambda inner: st.dictionaries(
        st.binary(min_size=1, max_size=8), st.one_of(st.binary(max_size=16), inner), max_size=3
    ),
    max_leaves=8,
)


def read(data: bytes) -> Bucket:
    def reader(at: int, size: int) -> bytes:
        return data[at : at + size]

    return read_bucket(reader, read_meta(reader, len(data)))


def said(data: bytes) -> str:
    with pytest.raises(DamageError) as error:
        read(data)
    return str(error.value)


@given(TREES)
def test_reads_what_was_written(tree: Bucket) -> None:
    assert read(bolt(tree)) == tree


def test_the_newer_valid_root_counts() -> None:
    data = bolt({b"a": b"1"}, transaction=9)
    assert read_meta(lambda at, size: data[at : at + size], len(data)) == Meta(PAGE, 3, 5, 9)
    torn = data[:40] + b"\xff" + data[41:]
    assert read_meta(lambda at, size: torn[at : at + size], len(torn)) == Meta(PAGE, 3, 5, 8)


def test_says_how_a_file_is_damaged() -> None:
    whole = bolt({b"a": b"1"})
    assert said(b"") == "it has no valid root page: it is not a bbolt database"
    assert said(b"\xa5" * 32768) == "it has no valid root page: it is not a bbolt database"
    assert said(whole[: 2 * PAGE]) == "it is truncated: 8192 bytes, expected at least 20480"
    other_page = whole[: 3 * PAGE] + struct.pack("<Q", 7) + whole[3 * PAGE + 8 :]
    assert said(other_page) == "page 3 has the number 7 in its header"
    flags = whole[: 3 * PAGE + 8] + b"\x40\x00" + whole[3 * PAGE + 10 :]
    assert said(flags) == "a page has flags 0x40; expected a branch or a leaf"
    long_page = whole[: 3 * PAGE + 12] + b"\xff\xff" + whole[3 * PAGE + 14 :]
    assert said(long_page) == "page 3 claims a length of 65536 pages"


def test_pages_that_lead_in_a_circle_end() -> None:
    whole = bolt({b"a": b"1"})
    circle = struct.pack("<QHHI", 3, 0x01, 1, 0) + struct.pack("<IIQ", 16, 1, 3)
    assert said(whole[: 3 * PAGE] + circle.ljust(PAGE, b"\0") + whole[4 * PAGE :]).startswith("it refers to page 3")


@given(st.binary(max_size=200), st.integers(0, 5 * PAGE - 200))
def test_no_damage_crashes_or_hangs_the_reader(garbage: bytes, at: int) -> None:
    whole = bolt({b"ctr": {b"id": {b"config": b"{}", b"state": b"{}"}}, b"plain": b"text"})
    data = whole[:at] + garbage + whole[at + len(garbage) :]
    try:
        read(data)
    except DamageError:
        return


@given(st.binary(max_size=3 * PAGE))
def test_garbage_is_never_a_database(data: bytes) -> None:
    assert said(data)
