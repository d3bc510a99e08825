"""Looks into archives of images that the runtime will load, a few of them: a layer's list is read from end to end."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.images.archived import ArchivedImages, parse_archives
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import RUNNERS, TESTS, StoredImages
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.probes.images.supply import KEY
from skyrl_train.contracts.sandbox.supply import archive_of

MOST = 4
LIMIT_S = 8.0


@probe(limit_s=LIMIT_S + 4)
def archived_images(machine: Machine, plan: Plan, needed: NeededImages, stored: StoredImages) -> ArchivedImages:
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
