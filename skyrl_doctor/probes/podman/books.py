"""Reads the store's books and looks whether each layer that they name lies there. A fault counts when two looks saw it."""

from collections.abc import Iterator

from skyrl_doctor.core.check import probe
from skyrl_doctor.facts.podman.books import (
    Entries,
    Layer,
    LayerFault,
    PodmanBooks,
    image_of,
    layer_of,
    parse_entries,
)
from skyrl_doctor.facts.podman.settings import BrokenFile
from skyrl_doctor.facts.podman.store import Places, PodmanStore
from skyrl_doctor.machine.base import Machine, Unreadable
from skyrl_doctor.probes.podman.paths import stat_or_none, text_or_none

_BOOK_LIMIT_BYTES = 256 << 20


@probe(limit_s=10.0)
def podman_books(machine: Machine, store: PodmanStore) -> PodmanBooks:
    if store.broken:
        return PodmanBooks(broken=store.broken)
    found = _look(machine, store)
    return found if found.whole else _look(machine, store)


def _look(machine: Machine, store: PodmanStore) -> PodmanBooks:
    places = store.places
    driver = places.driver or "overlay"
    broken: list[BrokenFile] = []
    # Images before layers: Podman writes them the other way round.
    images = _book(machine, f"{places.graph_root}/{driver}-images/images.json", broken)
    containers = [
        *_book(machine, f"{places.graph_root}/{driver}-containers/containers.json", broken),
        *_book(machine, f"{places.graph_root}/{driver}-containers/volatile-containers.json", broken),
    ]
    layers = {layer.id: layer for layer in _layers(machine, places.graph_root, driver, broken)}
    elsewhere, unread = _elsewhere(machine, (*store.storage.additional_stores, store.storage.image_store), driver)
    return PodmanBooks(
        layers=layers,
        images=tuple(image_of(entry) for entry in images),
        containers=tuple(str(entry["id"]) for entry in containers),
        elsewhere=elsewhere,
        broken=tuple(broken),
        faults=tuple(_faults(machine, places, tuple(layers.values()))) if driver == "overlay" else (),
        unread=unread,
    )


def _layers(machine: Machine, root: str, driver: str, broken: list[BrokenFile]) -> Iterator[Layer]:
    for name in ("layers.json", "volatile-layers.json"):
        yield from (layer_of(entry) for entry in _book(machine, f"{root}/{driver}-layers/{name}", broken))


def _book(machine: Machine, path: str, broken: list[BrokenFile]) -> Entries:
    text = text_or_none(machine, path, limit_bytes=_BOOK_LIMIT_BYTES)
    found = () if text is None else parse_entries(path, text)
    if isinstance(found, BrokenFile):
        broken.append(found)
        return ()
    return found


def _elsewhere(machine: Machine, roots: tuple[str, ...], driver: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The layers of the stores that this one reads besides its own."""
    known: set[str] = set()
    unread: list[str] = []
    for root in filter(None, roots):
        broken: list[BrokenFile] = []
        try:
            known.update(layer.id for layer in _layers(machine, root, driver, broken))
        except Unreadable as error:
            unread.append(str(error))
        unread.extend(f"{file.path} {file.why}" for file in broken)
    return frozenset(known), tuple(unread)


def _faults(machine: Machine, places: Places, layers: tuple[Layer, ...]) -> Iterator[LayerFault]:
    for layer in layers:
        if layer.incomplete:
            continue
        path = f"{places.graph_root}/overlay/{layer.id}"
        if stat_or_none(machine, f"{path}/diff") is None:
            missing = "diff" if stat_or_none(machine, path) is not None else "directory"
            yield LayerFault(layer.id, path, missing)
            continue
        link = stat_or_none(machine, f"{path}/link")
        if link is None or link.size == 0:
            yield LayerFault(layer.id, path, "link" if link is None else "empty link")
