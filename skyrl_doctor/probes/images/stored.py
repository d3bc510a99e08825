"""Looks into the store's images, by its files: no podman command is run and no lock is taken."""

import base64
from collections.abc import Mapping

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import (
    OS_RELEASE,
    PATHS,
    IdMap,
    ImageConfig,
    Node,
    StoredImage,
    StoredImages,
    parse_image_config,
    parse_passwd,
)
from skyrl_doctor.facts.podman.books import Image, PodmanBooks, image_of, parse_entries
from skyrl_doctor.facts.podman.settings import BrokenFile
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.facts.podman.subids import SubIds
from skyrl_doctor.machine.base import Machine, Unreadable
from skyrl_doctor.probes.images.tree import Found, Tree
from skyrl_doctor.probes.podman.paths import text_or_none

MOST = 40
"""Images that are looked into; of a large dataset the first ones."""
_TEXT_BYTES = 64 << 10


@probe(limit_s=15.0)
def stored_images(
    machine: Machine, store: PodmanStore, books: PodmanBooks, ids: SubIds | None, needed: NeededImages | None
) -> StoredImages:
    if books.broken:
        raise CouldNotLook(f"what the store holds stays unknown: {books.broken[0].path} {books.broken[0].why} (POD006)")
    by_name = {name: image for image in books.images for name in image.names}
    elsewhere = _names_elsewhere(machine, store)
    absent: tuple[str, ...] = ()
    if needed is None:
        chosen = [image for image in books.images if image.names]
    else:
        wanted = needed.references
        chosen = list({by_name[name].id: by_name[name] for name in wanted if name in by_name}.values())
        absent = tuple(name for name in wanted if name not in by_name and name not in elsewhere)
    maps = _ids(store, ids)
    return StoredImages(
        images=tuple(_image(machine, store, books, image, maps) for image in chosen[:MOST]),
        absent=absent,
        all_names=frozenset(by_name) | elsewhere,
        beyond=max(0, len(chosen) - MOST),
        of_dataset=needed is not None,
    )


def _names_elsewhere(machine: Machine, store: PodmanStore) -> frozenset[str]:
    """The images of the stores that this one reads besides its own: a site's shared ones. They are not looked into."""
    driver = store.places.driver or "overlay"
    roots = filter(None, (*store.storage.additional_stores, store.storage.image_store))
    names: set[str] = set()
    for root in roots:
        path = f"{root}/{driver}-images/images.json"
        text = text_or_none(machine, path)
        entries = () if text is None else parse_entries(path, text)
        if isinstance(entries, BrokenFile):
            raise CouldNotLook(f"what the shared store holds stays unknown: {path} {entries.why}")
        names.update(name for entry in entries for name in image_of(entry).names)
    return frozenset(names)


def _ids(store: PodmanStore, ids: SubIds | None) -> Mapping[str, IdMap]:
    if not store.rootless or ids is None:
        return {}
    return {"uid": IdMap(own=store.uid, ranges=ids.uids.ranges), "gid": IdMap(own=ids.gid, ranges=ids.gids.ranges)}


def _image(
    machine: Machine, store: PodmanStore, books: PodmanBooks, image: Image, maps: Mapping[str, IdMap]
) -> StoredImage:
    places = store.places
    unread: list[str] = []
    config = _config(machine, f"{places.graph_root}/{places.driver or 'overlay'}-images/{image.id}", image.id, unread)
    layers = tuple(f"{places.graph_root}/overlay/{layer}/diff" for layer in books.chain(image.layer))
    tree = Tree(machine, layers)
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
        unread.append(f"{path}: is no configuration of an image")
    return found or ImageConfig()


def _text(machine: Machine, tree: Tree, path: str, unread: list[str]) -> str:
    try:
        found = tree.find(path)
        return machine.read(found.place, limit_bytes=_TEXT_BYTES) if found and found.stat.kind == "file" else ""
    except CouldNotLook as error:
        unread.append(str(error))
        return ""


def _node(found: Found, store: PodmanStore, maps: Mapping[str, IdMap]) -> Node:
    stat = found.stat
    if not store.rootless:
        return Node(kind=stat.kind, mode=stat.mode, uid=stat.uid, gid=stat.gid)
    uid = maps["uid"].inside(stat.uid) if maps else None
    gid = maps["gid"].inside(stat.gid) if maps else None
    return Node(kind=stat.kind, mode=stat.mode, uid=uid, gid=gid)
