"""The books of a store: what is whole, and what is no book."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.podman_store import FILE, PLACES, STORE, Bare, store
from skyrl_doctor.facts.podman.database import Database
from skyrl_doctor.facts.podman.settings import BrokenFile, StorageConf
from skyrl_doctor.facts.podman.store_index import (
    Image,
    Layer,
    LayerFault,
    StoreIndex,
    image_of,
    layer_of,
    parse_entries,
    store_index,
)

BOOKS = StoreIndex(
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
    circle = StoreIndex(layers={"a": Layer("a", "b"), "b": Layer("b", "a")})
    assert circle.chain("a") == ("a", "b")


def test_is_whole_only_without_any_fault() -> None:
    assert StoreIndex().whole
    assert not BOOKS.whole
    assert not StoreIndex(faults=(LayerFault("a", "/a", "diff"),)).whole
    assert not StoreIndex(broken=(BrokenFile("x", "y"),)).whole


@given(st.text())
def test_no_text_crashes(text: str) -> None:
    found = parse_entries("x", text)
    assert isinstance(found, BrokenFile | tuple)
    assert found != () or text.strip() in ("[]", "null") or "[" in text


GRAPH = PLACES.graph_root


def layer(name: str, *parts: str) -> dict[str, Any]:
    return {f"stat {GRAPH}/overlay/{name}/{part}" if part else f"stat {GRAPH}/overlay/{name}": FILE for part in parts}


def test_books_and_the_layers_that_they_name() -> None:
    names = ("whole", "bare", "gone", "unlinked", "emptied", "young")
    entries = [f'{{"id": "{name}"}}' for name in names[:-1]] + ['{"id": "young", "flags": {"incomplete": true}}']
    machine = Bare(
        {
            f"read {GRAPH}/overlay-layers/layers.json": f"[{', '.join(entries)}]",
            f"read {GRAPH}/overlay-images/images.json": '[{"id": "i", "names": ["box"], "layer": "whole"}]',
            f"read {GRAPH}/overlay-containers/volatile-containers.json": '[{"id": "c"}]',
            **layer("whole", "diff", "link"),
            **layer("bare", ""),
            **layer("unlinked", "diff"),
            **layer("emptied", "diff"),
            f"stat {GRAPH}/overlay/emptied/link": {**FILE, "size": 0},
        }
    )
    assert store_index(machine, STORE) == StoreIndex(
        layers={name: Layer(name, incomplete=name == "young") for name in names},
        images=(Image("i", ("box",), "whole"),),
        containers=("c",),
        faults=tuple(
            LayerFault(name, f"{GRAPH}/overlay/{name}", what)
            for name, what in (
                ("bare", "diff"),
                ("gone", "directory"),
                ("unlinked", "link"),
                ("emptied", "empty link"),
            )
        ),
    )


def test_an_empty_store_is_whole_and_a_broken_configuration_is_not() -> None:
    assert store_index(Bare({}), STORE) == StoreIndex()
    broken = (BrokenFile("s.conf", "is empty"),)
    assert store_index(Bare({}), store(broken=broken)) == StoreIndex(broken=broken)


def test_layers_of_other_stores_count() -> None:
    both = StorageConf(additional_stores=("/shared", "/closed"), image_store="/images")
    machine = Bare(
        {
            "read /shared/overlay-layers/layers.json": '[{"id": "far"}]',
            "read /closed/overlay-layers/layers.json": {"unreadable": "/closed", "why": "Permission denied"},
            "read /images/overlay-layers/layers.json": "[{",
        }
    )
    found = store_index(machine, store(storage=both))
    assert found.elsewhere == {"far"}
    assert [text.partition(":")[0] for text in found.unread] == [
        "/closed",
        "/images/overlay-layers/layers.json is not valid JSON",
    ]


def test_layers_of_other_drivers_are_not_looked_for_as_overlay() -> None:
    vfs = store(database=Database(path="x", driver="vfs"))
    machine = Bare({f"read {GRAPH}/vfs-layers/layers.json": '[{"id": "a"}]'})
    assert store_index(machine, vfs) == StoreIndex(layers={"a": Layer("a")})
