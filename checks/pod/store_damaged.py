"""A file of Podman's store is damaged: a configuration, the database or a layer.

## What it does
Reads storage.conf, containers.conf, the store's database and its index files (layers.json, images.json,
containers.json), and checks that each layer in them exists. Damage is reported if two reads show it.

## Why it breaks training
A job that was killed while it wrote, or a full disk, leaves half a file. Podman then crashes (a truncated
bolt_state.db), does not find an image (a truncated layers.json), or starts sandboxes with missing programs (a layer
without its `link`). `podman ps` and `podman images` often look fine.

## How to fix
Give the job its own store, which does not touch the damaged one. To repair a damaged layer, remove its image and pull
or build it again. A damaged database can be moved away: Podman creates a new one and forgets its containers. `podman
system reset` is the last resort: it deletes everything in the store.

## Example
    Image sandbox exists in local storage but may be corrupted (remove the image to resolve the issue): layer not known
"""

from collections.abc import Iterator

from checks.pod.shared import quoted, reset_or_isolate
from checks.vocabulary import BROKEN
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.podman.program import Podman
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.facts.podman.store_index import Image, LayerFault, StoreIndex

CAUSE = "Podman's store is damaged: files of an image, or its database, are missing or broken"

REPAIR = "Remove the image that lost its layer and pull or build it again (`podman rmi --force IMAGE`); Podman 5 lists all of them with `podman system check` and removes them with `--repair`. On a shared node, a store of its own for each job stays out of it (`podman --root DIR`). `podman system reset` is the last resort: it deletes everything in the store."

SIGNATURES = (
    Signature(
        pattern=r"\blayer not known\b|creating read-write layer .{0,300}no such file or directory|opening database .{0,200}invalid database|unexpected fault address",
        sample="Error: looking up image: layer not known",
        explain=CAUSE,
        remedy=REPAIR,
        versions="podman",
    ),
    Signature(
        pattern=r"size for layer .{0,120}is unknown|(?:locating item named|overlay/l/|readlink .{0,200}overlay).{0,200}(?:file does not exist|no such file)|layer (?!\S{1,20} weights|.{0,80}uninitialized).{0,80}(?:not found|is corrupted|missing)",
        unless=r"\b(?:Value|Key|Runtime|Assertion|Attribute|Type|Index)Error: ",
        sample="Error: readlink /tmp/podman-store/overlay/l/ABCDEFGHIJKLMNOP: no such file or directory",
        explain=CAUSE,
        remedy=REPAIR,
        versions="podman",
    ),
    Signature(
        pattern=r"(?:readlink|faccessat|l?stat|mkdir|rename|open|unlinkat) \S{0,200}/(?:containers|storage)/(?:storage/)?overlay(?:-layers|-images)?(?:/\S{0,200})?: (?:invalid argument|no such file|input/output error|file exists|bad message|structure needs cleaning)|not found in layer tree|missing symlinks|replacing mount point .{1,300}: directory not empty|creating overlay mount to .{1,300}mount_data=.{1,400}: no such file or directory|database disk image is malformed|overlay-(?:layers|images|containers)\S{0,80}: .{0,80}(?:unexpected end of JSON|invalid character)|invalid checksum digest|file integrity checksum failed for|\bError: (?:.{1,200}: )?file is not a database|\berror loading storage metadata\b|\bcreating overlay mount to .{1,300}: (?:input/output error|structure needs cleaning)|\b(?:layers|images|containers)\.json: .{0,80}(?:unexpected end of JSON|invalid character)|\blayer in lower level storage driver not accounted for\b",
        sample="Error: loading layer store: parsing overlay-layers/layers.json: unexpected end of JSON input",
        explain=CAUSE,
        remedy=REPAIR,
        versions="podman",
    ),
    Signature(
        pattern=r"\bcreating file-getter: |\blayer content incorrect (?:digest|size)\b|\blayer data item is missing\b|\bimage layer is missing\b|\b(?:image|container) data item (?:is missing|has incorrect size)\b",
        sample="	* layer 5e3e0330c68f: creating file-getter: readlink /g/storage/overlay/5e3e0330c68f/diff: no such file or directory",
        explain="a layer of Podman's store has lost its files",
        remedy="Remove the images that `podman system check` names and pull or build them again; `podman system check --repair` does the first part. If the store is on a mount of its own, look whether it is mounted (`findmnt --target DIR`) before you remove anything.",
        versions="podman >= 5",
    ),
    Signature(
        pattern=r"\bdatabase has schema version (?P<found>\d{1,6}) while this libpod version only supports version (?P<known>\d{1,6})|\bBoltDB database exists but is no longer being used\b|\bBoltDB (?:is deprecated|support was removed)\b[^\n]{0,120}\bError\b",
        sample="Error: database has schema version 2 while this libpod version only supports version 1: internal libpod error",
        explain="Podman's database was written by another version of Podman, which this one does not read",
        remedy="Use one version of Podman on all nodes that share the store. BoltDB (before Podman 6): restart the node with the older Podman, which moves the containers to SQLite (`podman system migrate --migrate-db` where it has that option), or begin a new store (`podman system reset` deletes all containers and images).",
        versions="podman >= 5",
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b(?:container|image|layer|podman|overlay)\b.{{0,40}}\b(?:store|storage|database|layers?)\b.{{0,60}}{BROKEN}",
    sample="Error: container store is corrupted: layer 9f1 has no parent",
    explain=CAUSE,
    versions="any",
)

_AT_MOST = 8


@check("POD006", roles=[Role.RUNTIME], fix="skyrl_train/node/podman_store.py")
def store_damaged(podman: Podman, store: PodmanStore, books: StoreIndex, environ: Environ) -> Iterator[Finding]:
    if store.broken:
        yield from _configuration(store)
        return
    found = [*_database(store), *_books(podman, store, books, environ), *_layers(books)]
    yield from found
    if found:
        return
    if books.orphans and books.unread:
        raise CouldNotLook(f"an image's layer is in no readable index: {'; '.join(books.unread)}")
    yield from _orphans(books)
    if store.database.unread and not books.orphans:
        raise CouldNotLook(store.database.unread)


def _configuration(store: PodmanStore) -> Iterator[Finding]:
    for file in store.broken:
        yield Finding(
            message=f"{file.path} {file.why}; Podman does not start with it",
            location=Location(file.path),
            remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary="correct the file, or remove the setting that names it"),
        )


def _database(store: PodmanStore) -> Iterator[Finding]:
    database, asked = store.database, store.engine.static_dir
    aside = Remedy(
        kind=RemedyKind.RESET_STORE,
        summary="move the database away; Podman creates a new one. It forgets its containers but keeps images",
        commands=(quoted("mv", database.path, f"{database.path}.damaged"),),
    )
    if database.damage:
        yield Finding(message=f"{database.path} is damaged: {database.damage}", remedy=aside)
    elif asked and database.static_dir and database.static_dir != asked:
        yield Finding(
            message=f"{database.path} was created in {database.static_dir}; expected {asked} (static_dir): database configuration mismatch",
            remedy=aside,
        )


def _books(podman: Podman, store: PodmanStore, books: StoreIndex, environ: Environ) -> Iterator[Finding]:
    strict = podman.major is not None and podman.major >= 5
    for file in books.broken:
        aside = quoted("mv", file.path, f"{file.path}.damaged")
        if file.path.endswith("containers.json"):
            yield Finding(
                message=f"{file.path} {file.why}; "
                + ("Podman does not start with it" if strict else "Podman forgets its containers"),
                severity=Severity.ERROR if strict else Severity.WARNING,
                remedy=Remedy(
                    kind=RemedyKind.RESET_STORE,
                    summary="move the file away; Podman forgets its containers but keeps images",
                    commands=(aside,),
                ),
            )
        else:
            yield Finding(
                message=f"{file.path} {file.why}; Podman loses the images in it",
                remedy=reset_or_isolate(store, environ, before=(aside,)),
            )


def _layers(books: StoreIndex) -> Iterator[Finding]:
    for fault in books.faults[:_AT_MOST]:
        yield _layer(fault, books.images_on(fault.layer))
    left = len(books.faults) - _AT_MOST
    if left > 0:
        yield Finding(message=f"{left} more layers are damaged; expected none")


def _layer(fault: LayerFault, images: tuple[Image, ...]) -> Finding:
    owner = f"image {images[0].label}" if images else "no image"
    lacks = "has an empty link" if fault.what == "empty link" else f"has no {fault.what}"
    return Finding(
        message=f"layer {fault.layer[:12]} of {owner} {lacks}; expected a complete {fault.path}",
        severity=_severity(fault, images),
        remedy=_rebuild(images) if images else None,
    )


def _severity(fault: LayerFault, images: tuple[Image, ...]) -> Severity:
    if fault.what == "link":
        return Severity.INFO  # Podman writes it again
    if fault.what == "empty link":  # read only when a container is made on top of that very layer
        images = tuple(image for image in images if image.layer == fault.layer)
    return Severity.ERROR if images else Severity.WARNING


def _orphans(books: StoreIndex) -> Iterator[Finding]:
    for image in books.orphans[:_AT_MOST]:
        yield Finding(
            message=f"image {image.label} needs layer {image.layer[:12]}, which is not in layers.json; expected it there",
            remedy=_rebuild((image,)),
        )
    left = len(books.orphans) - _AT_MOST
    if left > 0:
        yield Finding(message=f"{left} more images need layers that are not in layers.json; expected none")


def _rebuild(images: tuple[Image, ...]) -> Remedy:
    return Remedy(
        kind=RemedyKind.REBUILD_IMAGE,
        summary="remove the image and the containers that use it, then pull or build it again",
        commands=(quoted("podman", "rmi", "--force", *(image.id for image in images)),),
    )
