"""The books, and the layers that they name."""

from typing import Any

from fakes.podman_store import FILE, PLACES, STORE, Bare, store
from skyrl_doctor.facts.podman.books import Image, Layer, LayerFault, PodmanBooks
from skyrl_doctor.facts.podman.database import Database
from skyrl_doctor.facts.podman.settings import BrokenFile, StorageConf
from skyrl_doctor.probes.podman.books import podman_books

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
    assert podman_books(machine, STORE) == PodmanBooks(
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
    assert podman_books(Bare({}), STORE) == PodmanBooks()
    broken = (BrokenFile("s.conf", "is empty"),)
    assert podman_books(Bare({}), store(broken=broken)) == PodmanBooks(broken=broken)


def test_layers_of_other_stores_count() -> None:
    both = StorageConf(additional_stores=("/shared", "/closed"), image_store="/images")
    machine = Bare(
        {
            "read /shared/overlay-layers/layers.json": '[{"id": "far"}]',
            "read /closed/overlay-layers/layers.json": {"unreadable": "/closed", "why": "Permission denied"},
            "read /images/overlay-layers/layers.json": "[{",
        }
    )
    found = podman_books(machine, store(storage=both))
    assert found.elsewhere == {"far"}
    assert [text.partition(":")[0] for text in found.unread] == [
        "/closed",
        "/images/overlay-layers/layers.json is not valid JSON",
    ]


def test_layers_of_other_drivers_are_not_looked_for_as_overlay() -> None:
    vfs = store(database=Database(path="x", driver="vfs"))
    machine = Bare({f"read {GRAPH}/vfs-layers/layers.json": '[{"id": "a"}]'})
    assert podman_books(machine, vfs) == PodmanBooks(layers={"a": Layer("a")})
