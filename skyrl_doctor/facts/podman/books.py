"""The store's books: which layers, images and containers it says it holds, and which of the layers are whole."""

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_doctor.facts.podman.settings import BrokenFile

Entries = tuple[Mapping[str, Any], ...]


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
class PodmanBooks:
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
