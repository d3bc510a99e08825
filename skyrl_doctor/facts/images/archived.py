"""Images that the runtime will load from archives, and what they have at the paths that matter."""

from collections.abc import Mapping

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import RUNNERS, TESTS, Node, StoredImage, StoredImages
from skyrl_doctor.facts.images.supply import ARCHIVE_KEY
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.supply import archive_of
from skyrl_train.contracts.typed import Fields

WHO = "image archives"
KINDS = ("dir", "file")
MOST_ARCHIVES = 4
LIMIT_S = 8.0


@record(kw_only=True)
class ArchivedImages:
    """`images` are the first few of the dataset's images that come from archives; `of` counts all of them."""

    images: tuple[StoredImage, ...] = ()
    of: int = 0


@unknown_if_malformed()
def parse_archives(text: str, names: Mapping[str, str]) -> tuple[StoredImage, ...]:
    """Parses the output of children/archive_paths.py. `names` maps each archive to its image name."""
    return tuple(_image(found, names) for found in answer_of(text, WHO).objects("archives"))


def _image(found: Fields, names: Mapping[str, str]) -> StoredImage:
    archive = found.text("archive")
    if archive not in names:
        raise found.error("archive", f"is {archive!r}; expected one of the requested archives")
    paths = found.inner_or_none("paths")
    if paths is None:
        return StoredImage(id=archive, names=(names[archive],), unread=(f"{archive}: {found.value('why')}",))
    kinds = {path: paths.text(path) for path in paths}
    return StoredImage(
        id=archive,
        names=(names[archive],),
        nodes={path: _node(kind) for path, kind in kinds.items() if kind in ("", *KINDS)},
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
