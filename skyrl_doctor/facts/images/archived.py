"""Images that the runtime will load from archives, and what they have at the paths that matter."""

import json
from collections.abc import Mapping
from typing import Any

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import RUNNERS, TESTS, Node, StoredImage, StoredImages
from skyrl_doctor.facts.images.supply import ARCHIVE_KEY
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.supply import archive_of

WHO = "image archives"
KINDS = ("dir", "file")
MOST_ARCHIVES = 4
LIMIT_S = 8.0


@record(kw_only=True)
class ArchivedImages:
    """`images` are the first few of the dataset's images that come from archives; `of` counts all of them."""

    images: tuple[StoredImage, ...] = ()
    of: int = 0


def parse_archives(text: str, names: Mapping[str, str]) -> tuple[StoredImage, ...]:
    """Parses the output of children/archive_paths.py. `names` maps each archive to its image name."""
    return tuple(_image(entry, names) for entry in _entries(text))


def _entries(text: str) -> list[Any]:
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            try:
                entries = json.loads(line).get("archives")
            except (ValueError, RecursionError):
                break
            if isinstance(entries, list):
                return entries
    raise CouldNotLook(f"{WHO}: printed no JSON object")


def _image(entry: object, names: Mapping[str, str]) -> StoredImage:
    archive = entry.get("archive") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(archive, str) or archive not in names:
        raise CouldNotLook(f"{WHO}: unexpected entry in its answer: {str(entry)[:80]!r}")
    paths, why = entry.get("paths"), entry.get("why")
    if not isinstance(paths, dict):
        return StoredImage(id=archive, names=(names[archive],), unread=(f"{archive}: {why}",))
    return StoredImage(
        id=archive,
        names=(names[archive],),
        nodes={path: _node(kind) for path, kind in paths.items() if kind in ("", *KINDS)},
        unread=(f"{archive}: one of the paths is a symbolic link",),
    )


def _node(kind: str) -> Node | None:
    return Node(kind=kind, mode=0, uid=None, gid=None) if kind else None


@probe(limit_s=LIMIT_S + 4)
def archived_images(machine: Machine, plan: Plan, needed: NeededImages, stored: StoredImages) -> ArchivedImages:
    """Reads a few of the archives that the runtime will load. Each takes time: the lists of all layers are read."""
    place = (plan.text(ARCHIVE_KEY) or "").rstrip("/")
    files = unless_absent(lambda: machine.listdir(place)) if place else None
    if not files:
        raise NotApplicable("no image is loaded from an archive")
    absent = {name: reference for name, reference in needed.references.items() if name in stored.absent}
    names = {
        f"{place}/{file}": name
        for name, reference in absent.items()
        if (file := archive_of(reference, files)) is not None
    }
    if not names:
        raise NotApplicable("no image of the dataset is loaded from an archive")
    words = (f"{LIMIT_S:g}", ",".join(TESTS + RUNNERS), *list(names)[:MOST_ARCHIVES])
    done = machine.ask("archive_paths", *words, limit_s=LIMIT_S + 3)
    if not done.ok:
        raise CouldNotLook(done.why)
    return ArchivedImages(images=parse_archives(done.out, names), of=len(names))
