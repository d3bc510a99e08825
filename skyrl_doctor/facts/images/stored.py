"""The images of a store, read from its files: their configuration, and what they have at the paths that matter."""

import base64
import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.images.layers import ImageLayers, LayerEntry
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.podman.settings import BrokenFile
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.facts.podman.store_index import Image, StoreIndex, parse_entries, parse_image
from skyrl_doctor.facts.podman.subids import Range, SubIds
from skyrl_doctor.machine.base import Machine, Unreadable
from skyrl_doctor.machine.paths import text_or_none
from skyrl_doctor.plan.answers import NO_SANDBOXES, has_sandboxes
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.agent_server import BINARY, SOURCE
from skyrl_train.contracts.sandbox.shell import BASH

TESTBED = "/testbed"
TESTS = ("/r2e_tests", "/testbed/r2e_tests", "/root/r2e_tests")
RUNNERS = ("/testbed/run_tests.sh", "/root/run_tests.sh")
OS_RELEASE = "/etc/os-release"
PATHS = (BINARY, SOURCE, BASH, TESTBED, *TESTS, *RUNNERS)
MOST_IMAGES = 40
"""At most this many images are read; of a large dataset the first ones."""
NO_TARGET = "no target names the images of a run, and others in the store are not judged"
_TEXT_BYTES = 64 << 10


@record(kw_only=True)
class Node:
    """The file at a path of an image. `uid` and `gid` are those inside the container; None if no range maps them."""

    kind: str
    mode: int
    uid: int | None
    gid: int | None


@record(kw_only=True)
class IdMap:
    """Maps ids of this machine to ids in a rootless container: the user is root, and the subordinate ranges follow in order."""

    own: int
    ranges: tuple[Range, ...] = ()

    def inside(self, id_: int) -> int | None:
        if id_ == self.own:
            return 0
        first = 1
        for found in self.ranges:
            if id_ in found:
                return first + id_ - found.first
            first += found.count
        return None


@record(kw_only=True)
class StoredImage:
    """`names` are the names in the store. `nodes` has None for a missing path; `unread` says what could not be read."""

    id: str
    names: tuple[str, ...]
    entrypoint: tuple[str, ...] = ()
    user: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    nodes: Mapping[str, Node | None] = field(default_factory=dict)
    os_release: str = ""
    users: Mapping[str, int] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return self.names[0] if self.names else self.id[:12]

    def has(self, *paths: str) -> bool | None:
        """Whether one of the paths exists; None if that could not be read."""
        if any(self.nodes.get(path) is not None for path in paths):
            return True
        return None if any(path not in self.nodes for path in paths) else False


@record(kw_only=True)
class StoredImages:
    """`images` are those that the run needs, or all if no dataset is known. `absent` are needed names that no store has.

    `beyond` counts the images above the limit, which were not read.
    """

    images: tuple[StoredImage, ...] = ()
    absent: tuple[str, ...] = ()
    all_names: frozenset[str] = frozenset()
    beyond: int = 0
    of_dataset: bool = False


@record(kw_only=True)
class ImageConfig:
    entrypoint: tuple[str, ...] = ()
    user: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


def parse_image_config(text: str) -> ImageConfig | None:
    """Parses an image's configuration (OCI or Docker): {"config": {"Entrypoint": […], "User": "", "Labels": {…}}}."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    config = found.get("config") if isinstance(found, dict) else None
    if config is None and isinstance(found, dict) and "rootfs" in found:
        return ImageConfig()
    if not isinstance(config, dict):
        return None
    user, labels = config.get("User"), config.get("Labels")
    return ImageConfig(
        entrypoint=_words(config.get("Entrypoint")),
        user=user if isinstance(user, str) else "",
        labels={name: value for name, value in labels.items() if isinstance(value, str)}
        if isinstance(labels, dict)
        else {},
    )


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(word for word in value if isinstance(word, str)) if isinstance(value, list) else ()


def parse_passwd(text: str) -> dict[str, int]:
    """The users and uids in an image's /etc/passwd."""
    rows = (line.split(":") for line in text.splitlines())
    return {row[0]: int(row[2]) for row in rows if len(row) >= 3 and row[2].isascii() and row[2].isdigit()}


@probe(limit_s=15.0)
def stored_images(
    machine: Machine, plan: Plan, store: PodmanStore, books: StoreIndex, ids: SubIds | None, needed: NeededImages | None
) -> StoredImages:
    """Reads the store's images from its files. It runs no podman command and takes no lock."""
    if not has_sandboxes(plan):
        raise NotApplicable(NO_SANDBOXES)
    if needed is None and not plan.targets:
        raise NotApplicable(NO_TARGET)
    if books.broken:
        raise CouldNotLook(
            f"the contents of the store are unknown: {books.broken[0].path} {books.broken[0].why} (POD006)"
        )
    by_name = {name: image for image in books.images for name in image.names}
    elsewhere = _names_elsewhere(machine, store)
    absent: tuple[str, ...] = ()
    if needed is None:
        chosen = [image for image in books.images if image.names]
    else:
        references = needed.references
        chosen = list({by_name[name].id: by_name[name] for name in references if name in by_name}.values())
        absent = tuple(name for name in references if name not in by_name and name not in elsewhere)
    maps = _id_maps(store, ids)
    return StoredImages(
        images=tuple(_image(machine, store, books, image, maps) for image in chosen[:MOST_IMAGES]),
        absent=absent,
        all_names=frozenset(by_name) | elsewhere,
        beyond=max(0, len(chosen) - MOST_IMAGES),
        of_dataset=needed is not None,
    )


def _names_elsewhere(machine: Machine, store: PodmanStore) -> frozenset[str]:
    """The image names in additional stores, such as a site's shared one. Those images are not read."""
    driver = store.places.driver or "overlay"
    roots = filter(None, (*store.storage.additional_stores, store.storage.image_store))
    names: set[str] = set()
    for root in roots:
        path = f"{root}/{driver}-images/images.json"
        text = text_or_none(machine, path)
        entries = () if text is None else parse_entries(path, text)
        if isinstance(entries, BrokenFile):
            raise CouldNotLook(f"the contents of the shared store are unknown: {path} {entries.why}")
        names.update(name for entry in entries for name in parse_image(entry).names)
    return frozenset(names)


def _id_maps(store: PodmanStore, ids: SubIds | None) -> Mapping[str, IdMap]:
    if not store.rootless or ids is None:
        return {}
    return {"uid": IdMap(own=store.uid, ranges=ids.uids.ranges), "gid": IdMap(own=ids.gid, ranges=ids.gids.ranges)}


def _image(
    machine: Machine, store: PodmanStore, books: StoreIndex, image: Image, maps: Mapping[str, IdMap]
) -> StoredImage:
    places = store.places
    unread: list[str] = []
    config = _config(machine, f"{places.graph_root}/{places.driver or 'overlay'}-images/{image.id}", image.id, unread)
    layers = tuple(f"{places.graph_root}/overlay/{layer}/diff" for layer in books.chain(image.layer))
    tree = ImageLayers(machine, layers)
    nodes: dict[str, Node | None] = {}
    for path in PATHS:
        try:
            found = tree.find(path)
        except Unreadable as error:
            unread.append(str(error))
            continue
        nodes[path] = None if found is None else _node(found, store, maps)
    return StoredImage(
        id=image.id,
        names=image.names,
        entrypoint=config.entrypoint,
        user=config.user,
        labels=config.labels,
        nodes=nodes,
        os_release=_text(machine, tree, OS_RELEASE, unread),
        users=parse_passwd(_text(machine, tree, "/etc/passwd", unread)) if config.user else {},
        unread=tuple(unread),
    )


def _config(machine: Machine, directory: str, id_: str, unread: list[str]) -> ImageConfig:
    name = base64.standard_b64encode(f"sha256:{id_}".encode()).decode()
    path = f"{directory}/={name}"
    try:
        found = parse_image_config(machine.read(path))
    except CouldNotLook as error:
        unread.append(str(error))
        return ImageConfig()
    if found is None:
        unread.append(f"{path}: not an image configuration")
    return found or ImageConfig()


def _text(machine: Machine, tree: ImageLayers, path: str, unread: list[str]) -> str:
    try:
        found = tree.find(path)
        return machine.read(found.place, limit_bytes=_TEXT_BYTES) if found and found.stat.kind == "file" else ""
    except CouldNotLook as error:
        unread.append(str(error))
        return ""


def _node(found: LayerEntry, store: PodmanStore, maps: Mapping[str, IdMap]) -> Node:
    stat = found.stat
    if not store.rootless:
        return Node(kind=stat.kind, mode=stat.mode, uid=stat.uid, gid=stat.gid)
    uid = maps["uid"].inside(stat.uid) if maps else None
    gid = maps["gid"].inside(stat.gid) if maps else None
    return Node(kind=stat.kind, mode=stat.mode, uid=uid, gid=gid)
