"""The books of a store: what is whole, and what is no book."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.podman.books import (
    Image,
    Layer,
    LayerFault,
    PodmanBooks,
    image_of,
    layer_of,
    parse_entries,
)
from skyrl_doctor.facts.podman.settings import BrokenFile

BOOKS = PodmanBooks(
    layers={"top": Layer("top", "base"), "base": Layer("base")},
    images=(Image("i", ("localhost/box",), "top"), Image("j", (), "gone"), Image("k", (), "far")),
    elsewhere=frozenset({"far"}),
)


def test_reads_entries() -> None:
    assert parse_entries("x", '[{"id": "a"}, {"id": "b"}]') == ({"id": "a"}, {"id": "b"})
    assert (parse_entries("x", "[]"), parse_entries("x", "null")) == ((), ())
    assert layer_of({"id": "a", "parent": "b", "flags": {"incomplete": True}}) == Layer("a", "b", incomplete=True)
    assert layer_of({"id": "a", "flags": 5}) == Layer("a")
    assert image_of({"id": "a", "names": ["n", 5], "layer": None}) == Image("a", ("n",), "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty; wanted a JSON list"),
        (" \n", "is empty; wanted a JSON list"),
        ("{}", "is no JSON list of entries with an id"),
        ("[5]", "is no JSON list of entries with an id"),
        ('[{"id": ""}]', "is no JSON list of entries with an id"),
        ('[{"name": "a"}]', "is no JSON list of entries with an id"),
    ],
)
def test_what_is_no_book_is_broken(text: str, why: str) -> None:
    assert parse_entries("x", text) == BrokenFile("x", why)


def test_a_book_that_is_cut_off_is_broken() -> None:
    found = parse_entries("x", '[{"id": "abc')
    assert isinstance(found, BrokenFile)
    assert found.why.startswith("is not valid JSON: ")


def test_finds_images_without_their_layer_and_layers_without_theirs() -> None:
    assert BOOKS.orphans == (BOOKS.images[1],)
    assert BOOKS.chain("top") == ("top", "base")
    assert BOOKS.images_on("base") == (BOOKS.images[0],)
    circle = PodmanBooks(layers={"a": Layer("a", "b"), "b": Layer("b", "a")})
    assert circle.chain("a") == ("a", "b")


def test_is_whole_only_without_any_fault() -> None:
    assert PodmanBooks().whole
    assert not BOOKS.whole
    assert not PodmanBooks(faults=(LayerFault("a", "/a", "diff"),)).whole
    assert not PodmanBooks(broken=(BrokenFile("x", "y"),)).whole


@given(st.text())
def test_no_text_crashes(text: str) -> None:
    found = parse_entries("x", text)
    assert isinstance(found, BrokenFile | tuple)
    assert found != () or text.strip() in ("[]", "null") or "[" in text
