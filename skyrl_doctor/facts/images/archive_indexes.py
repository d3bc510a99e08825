"""Which archives of the dataset's images cannot be loaded, as their first bytes and their indexes tell."""

from collections.abc import Mapping

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.supply import ImageSupply
from skyrl_doctor.machine.base import Machine
from skyrl_train.contracts.sandbox.supply import archive_of

WHO = "indexes of image archives"
MOST_ARCHIVES = 2000
LIMIT_S = 5.0


@record
class ArchiveFault:
    """An archive, the image that it is named after, and what is wrong with it, such as `is empty`."""

    file: str
    image: str
    why: str


@record(kw_only=True)
class ArchiveIndexes:
    """`read` of the `of` archives were read within the limits: `bad` ones cannot be loaded, `unread` ones cannot be judged."""

    read: int = 0
    of: int = 0
    bad: tuple[ArchiveFault, ...] = ()
    unread: tuple[ArchiveFault, ...] = ()


@unknown_if_malformed()
def parse_indexes(text: str, images: Mapping[str, str], of: int) -> ArchiveIndexes:
    """Parses the output of children/archive_index.py. `images` maps each requested archive to its image."""
    answer = answer_of(text, WHO)
    faults = {
        state: tuple(
            ArchiveFault(file, images[file], why)
            for file, why in answer.named_texts(state).items()
            if file in images  # no other was requested
        )
        for state in ("bad", "unread")
    }
    return ArchiveIndexes(read=answer.integer("read", at_least=0), of=of, **faults)


@probe(limit_s=LIMIT_S + 4)
def archive_indexes(machine: Machine, needed: NeededImages, supply: ImageSupply) -> ArchiveIndexes:
    """Reads the beginning and the index of each archive, as far as the time allows; layers are not read."""
    images = {
        file: name
        for name, reference in needed.references.items()
        if (file := archive_of(reference, supply.archives or ())) is not None
    }
    if not images:
        raise NotApplicable("no image of the dataset has an archive")
    names = list(images)[:MOST_ARCHIVES]
    done = machine.ask("archive_index", f"{LIMIT_S:g}", supply.archive, *names, limit_s=LIMIT_S + 3)
    if not done.ok:
        raise CouldNotLook(done.why)
    return parse_indexes(done.out, images, len(images))
