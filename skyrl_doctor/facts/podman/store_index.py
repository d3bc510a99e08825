"""The store's index files: its layers, images and containers, and the layers whose files are missing."""

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
    """`incomplete`: Podman is writing it, or was when it died. Podman deletes such a layer itself."""

    id: str
    parent: str = ""
    incomplete: bool = False


@record
class Image:
    id: str
    names: tuple[str, ...]
    layer: str

    @property
    def label(self) -> str:
        return self.names[0] if self.names else self.id[:12]


@record
class LayerFault:
    """A layer with missing files. `what` is "diff", "link", "empty link" or "directory"."""

    layer: str
    path: str
    what: str


@record(kw_only=True)
class StoreIndex:
    """`elsewhere` are the layers of additional image stores. `containers` are the ids in containers.json. `unread` lists
    the indexes of those stores that could not be read."""

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
        """Images whose top layer is in no index."""
        return tuple(
            image
            for image in self.images
            if image.layer and image.layer not in self.layers and image.layer not in self.elsewhere
        )

    def chain(self, layer: str) -> tuple[str, ...]:
        """A layer and the layers below it."""
        found: list[str] = []
        while layer and layer not in found:
            found.append(layer)
            layer = self.layers[layer].parent if layer in self.layers else ""
        return tuple(found)

    def images_on(self, layer: str) -> tuple[Image, ...]:
        return tuple(image for image in self.images if layer in self.chain(image.layer))


def parse_entries(path: str, text: str) -> Entries | BrokenFile:
    """Parses layers.json, images.json or containers.json: a list of objects, or null. Podman never writes an empty file."""
    if not text.strip():
        return BrokenFile(path, "is empty; expected a JSON list")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        return BrokenFile(path, f"is not valid JSON: {error}")
    if found is None:
        return ()
    if not isinstance(found, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("id"), str) and entry["id"] for entry in found
    ):
        return BrokenFile(path, "is not a JSON list of entries with an id")
    return tuple(found)


def parse_layer(entry: Mapping[str, Any]) -> Layer:
    flags = entry.get("flags")
    incomplete = isinstance(flags, dict) and flags.get("incomplete") is True
    return Layer(str(entry["id"]), _text(entry, "parent"), incomplete)


def parse_image(entry: Mapping[str, Any]) -> Image:
    names = entry.get("names")
    texts = tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()
    return Image(str(entry["id"]), texts, _text(entry, "layer"))


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) else ""


@probe(limit_s=10.0)
def store_index(machine: Machine, store: PodmanStore) -> StoreIndex:
    """Reads the index files and checks that the files of each layer exist. Reads again if something is wrong."""
    if store.broken:
        return StoreIndex(broken=store.broken)
    found = _read_index(machine, store)
    return found if found.whole else _read_index(machine, store)


def _read_index(machine: Machine, store: PodmanStore) -> StoreIndex:
    places = store.places
    driver = places.driver or "overlay"
    broken: list[BrokenFile] = []
    # Images before layers: Podman writes layers first.
    images = _read_entries(machine, f"{places.graph_root}/{driver}-images/images.json", broken)
    containers = [
        *_read_entries(machine, f"{places.graph_root}/{driver}-containers/containers.json", broken),
        *_read_entries(machine, f"{places.graph_root}/{driver}-containers/volatile-containers.json", broken),
    ]
    layers = {layer.id: layer for layer in _layers(machine, places.graph_root, driver, broken)}
    elsewhere, unread = _additional_layers(
        machine, (*store.storage.additional_stores, store.storage.image_store), driver
    )
    return StoreIndex(
        layers=layers,
        images=tuple(parse_image(entry) for entry in images),
        containers=tuple(str(entry["id"]) for entry in containers),
        elsewhere=elsewhere,
        broken=tuple(broken),
        faults=tuple(_faults(machine, places, tuple(layers.values()))) if driver == "overlay" else (),
        unread=unread,
    )


def _layers(machine: Machine, root: str, driver: str, broken: list[BrokenFile]) -> Iterator[Layer]:
    for name in ("layers.json", "volatile-layers.json"):
        yield from (parse_layer(entry) for entry in _read_entries(machine, f"{root}/{driver}-layers/{name}", broken))


def _read_entries(machine: Machine, path: str, broken: list[BrokenFile]) -> Entries:
    text = text_or_none(machine, path, limit_bytes=_BOOK_LIMIT_BYTES)
    found = () if text is None else parse_entries(path, text)
    if isinstance(found, BrokenFile):
        broken.append(found)
        return ()
    return found


def _additional_layers(machine: Machine, roots: tuple[str, ...], driver: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The layers of the additional stores, and the indexes that could not be read."""
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
