"""Images that the runtime will load from archives: what lies at the paths that matter, as far as it was looked at."""

import json
from collections.abc import Mapping
from typing import Any

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import RUNNERS, TESTS, Node, StoredImage, StoredImages
from skyrl_doctor.facts.images.supply import KEY
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.supply import archive_of

WHO = "image archives"
KINDS = ("dir", "file")
MOST = 4
LIMIT_S = 8.0


@record(kw_only=True)
class ArchivedImages:
    """`images` are the first of the dataset's that no store holds; `of` counts all that come from archives."""

    images: tuple[StoredImage, ...] = ()
    of: int = 0


def parse_archives(text: str, names: Mapping[str, str]) -> tuple[StoredImage, ...]:
    """The answer of children/archive_paths.py. `names` are the images' own, by their archive."""
    return tuple(_image(told, names) for told in _told(text))


def _told(text: str) -> list[Any]:
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            try:
                told = json.loads(line).get("archives")
            except (ValueError, RecursionError):
                break
            if isinstance(told, list):
                return told
    raise CouldNotLook(f"{WHO}: gave no answer that reads as one")


def _image(told: object, names: Mapping[str, str]) -> StoredImage:
    archive = told.get("archive") if isinstance(told, dict) else None
    if not isinstance(told, dict) or not isinstance(archive, str) or archive not in names:
        raise CouldNotLook(f"{WHO}: its answer has {str(told)[:80]!r}")
    paths, why = told.get("paths"), told.get("why")
    if not isinstance(paths, dict):
        return StoredImage(id=archive, names=(names[archive],), unread=(f"{archive}: {why}",))
    return StoredImage(
        id=archive,
        names=(names[archive],),
        nodes={path: _node(kind) for path, kind in paths.items() if kind in ("", *KINDS)},
        unread=(f"{archive}: a path in it is a link",),
    )


def _node(kind: str) -> Node | None:
    return Node(kind=kind, mode=0, uid=None, gid=None) if kind else None


@probe(limit_s=LIMIT_S + 4)
def archived_images(machine: Machine, plan: Plan, needed: NeededImages, stored: StoredImages) -> ArchivedImages:
    """Looks into archives of images that the runtime will load, a few of them: a layer's list is read from end to end."""
    place = (plan.text(KEY) or "").rstrip("/")
    files = unless_absent(lambda: machine.listdir(place)) if place else None
    if not files:
        raise NotApplicable("no image is loaded from an archive")
    wanted = {name: reference for name, reference in needed.references.items() if name in stored.absent}
    names = {
        f"{place}/{file}": name
        for name, reference in wanted.items()
        if (file := archive_of(reference, files)) is not None
    }
    if not names:
        raise NotApplicable("no image of the dataset is loaded from an archive")
    words = (f"{LIMIT_S:g}", ",".join(TESTS + RUNNERS), *list(names)[:MOST])
    done = machine.ask("archive_paths", *words, limit_s=LIMIT_S + 3)
    if not done.ok:
        raise CouldNotLook(done.why)
    return ArchivedImages(images=parse_archives(done.out, names), of=len(names))
