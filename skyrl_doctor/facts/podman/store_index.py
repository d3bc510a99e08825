"""The store's books: which layers, images and containers it says it holds, and which of the layers are whole."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.podman.settings import BrokenFile
from skyrl_doctor.facts.podman.store import Places, PodmanStore
from skyrl_doctor.machine.base import Machine, Unreadable
from skyrl_doctor.machine.paths import stat_or_none, text_or_none

Entries = tuple[Mapping[str, Any], ...]
_BOOK_LIMIT_BYTES = 256 << 20


@record
class Layer:
    """`incomplete`: Podman is writing it, or was when it died; it throws such a layer away by itself."""

    id: str
    parent: str = ""
    incomplete: bool = False


@record
class Image:
    id: str
    names: tuple[str, ...]
    layer: str

    @property
    def shown(self) -> str:
        return self.names[0] if self.names else self.id[:12]


@record
class LayerFault:
    """What a layer's directory lacks: "diff" missing, "link" missing or empty, or the directory itself."""

    layer: str
    path: str
    what: str


@record(kw_only=True)
class StoreIndex:
    """`elsewhere` are the layers of additional image stores. `containers` are the ids in containers.json."""

    layers: Mapping[str, Layer] = field(default_factory=dict)
    images: tuple[Image, ...] = ()
    containers: tuple[str, ...] = ()
    elsewhere: frozenset[str] = frozenset()
    broken: tuple[BrokenFile, ...] = ()
    faults: tuple[LayerFault, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        return not (self.broken or self.faults or self.orphans)

    @property
    def orphans(self) -> tuple[Image, ...]:
        """Images whose top layer is in no book."""
        return tuple(
            image
            for image in self.images
            if image.layer and image.layer not in self.layers and image.layer not in self.elsewhere
        )

    def chain(self, layer: str) -> tuple[str, ...]:
        """A layer and those below it."""
        found: list[str] = []
        while layer and layer not in found:
            found.append(layer)
            layer = self.layers[layer].parent if layer in self.layers else ""
        return tuple(found)

    def images_on(self, layer: str) -> tuple[Image, ...]:
        return tuple(image for image in self.images if layer in self.chain(image.layer))


def parse_entries(path: str, text: str) -> Entries | BrokenFile:
    """layers.json, images.json, containers.json: a list of tables, or null. Podman never leaves one empty."""
    if not text.strip():
        return BrokenFile(path, "is empty; wanted a JSON list")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        return BrokenFile(path, f"is not valid JSON: {error}")
    if found is None:
        return ()
    if not isinstance(found, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("id"), str) and entry["id"] for entry in found
    ):
        return BrokenFile(path, "is no JSON list of entries with an id")
    return tuple(found)


def layer_of(entry: Mapping[str, Any]) -> Layer:
    flags = entry.get("flags")
    incomplete = isinstance(flags, dict) and flags.get("incomplete") is True
    return Layer(str(entry["id"]), _text(entry, "parent"), incomplete)


def image_of(entry: Mapping[str, Any]) -> Image:
    names = entry.get("names")
    texts = tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()
    return Image(str(entry["id"]), texts, _text(entry, "layer"))


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) else ""


@probe(limit_s=10.0)
def store_index(machine: Machine, store: PodmanStore) -> StoreIndex:
    """Reads the store's books and looks whether each layer that they name lies there. A fault counts when two looks saw it."""
    if store.broken:
        return StoreIndex(broken=store.broken)
    found = _look(machine, store)
    return found if found.whole else _look(machine, store)


def _look(machine: Machine, store: PodmanStore) -> StoreIndex:
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
    return StoreIndex(
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
