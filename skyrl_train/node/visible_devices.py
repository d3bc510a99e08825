"""Reads CUDA_VISIBLE_DEVICES as CUDA does: what each entry is, and which of them CUDA gets to.

The driver reads from the left and stops at the first entry that it cannot follow, also at one of another family than
the first; a device named twice leaves none. Indices go through strtoul, so " 1gpu" is 1 for CUDA while Python's
int() refuses it; a UUID bears a space behind it and none before. Seen with driver 580 on an H200.
"""

import re
from collections.abc import Callable
from enum import StrEnum

from skyrl_train.contracts.record import record

VARIABLE = "CUDA_VISIBLE_DEVICES"
NO_DEVICES = "NoDevFiles"
"""What Slurm writes where a step was given no GPU."""


class Form(StrEnum):
    """What the variable is as a whole."""

    UNSET = "unset"
    EMPTY = "empty"
    BLANK = "blank"
    LIST = "list"


class Kind(StrEnum):
    """What one entry is. NEGATIVE, NOTHING and GARBAGE end the list, as NO_DEVICES does."""

    INDEX = "index"
    LOOSE_INDEX = "index with a tail"
    GPU = "GPU UUID"
    MIG = "MIG UUID"
    OLD_MIG = "MIG name of drivers before 470"
    NO_DEVICES = "no device"
    NEGATIVE = "negative index"
    NOTHING = "nothing"
    GARBAGE = "garbage"


@record
class Entry:
    """One entry: `text` as written, and its parts where its kind has them."""

    text: str
    kind: Kind
    number: int | None = None
    uuid: str | None = None
    gi: int | None = None
    ci: int | None = None

    @property
    def names_mig(self) -> bool:
        """Whether somebody meant a MIG slice, well written or not."""
        return self.text.strip().upper().startswith("MIG-")


@record
class VisibleDevices:
    """The variable, entry by entry. `value` None is unset."""

    value: str | None
    form: Form
    entries: tuple[Entry, ...] = ()

    @property
    def reached(self) -> tuple[Entry, ...]:
        """The entries that CUDA gets to: none after one that it cannot follow, and none at all where one repeats."""
        taken: list[Entry] = []
        family = _FAMILIES.get(self.entries[0].kind) if self.entries else None
        for entry in self.entries:
            if family is None or _FAMILIES.get(entry.kind) != family:
                break
            if any(_same(entry, before) for before in taken):
                return ()
            taken.append(entry)
        return tuple(taken)

    @property
    def shown(self) -> str:
        """The variable with its value, for messages."""
        return f"{VARIABLE} is unset" if self.value is None else f"{VARIABLE}={self.value!r}"


def parse(value: str | None) -> VisibleDevices:
    """The value of the variable, taken apart. No text is refused."""
    if value is None:
        return VisibleDevices(None, Form.UNSET)
    if not value.strip():
        return VisibleDevices(value, Form.BLANK if value else Form.EMPTY)
    return VisibleDevices(value, Form.LIST, tuple(_entry(text) for text in value.split(",")))


def _entry(text: str) -> Entry:
    bare = text.strip()
    if not bare:
        return Entry(text, Kind.NOTHING)
    if bare == NO_DEVICES:
        return Entry(text, Kind.NO_DEVICES)
    written = text.rstrip()
    for shape, make in _SHAPES:
        match = shape.match(written)
        if match:
            return make(text, match)
    return Entry(text, Kind.GARBAGE)


def _index(text: str, match: re.Match[str]) -> Entry:
    return Entry(text, Kind.LOOSE_INDEX if match["tail"] else Kind.INDEX, number=int(match["digits"]))


def _old_mig(text: str, match: re.Match[str]) -> Entry:
    return Entry(text, Kind.OLD_MIG, uuid=match["uuid"].lower(), gi=int(match["gi"]), ci=int(match["ci"]))


def _same(one: Entry, other: Entry) -> bool:
    return (one.number, one.uuid, one.gi, one.ci) == (other.number, other.uuid, other.gi, other.ci)


# "GPU-8932f937" may stand for a whole UUID: CUDA takes any beginning that names one device. Nine digits are enough
# for an index, and longer ones name no device anyway.
_SHAPES: tuple[tuple[re.Pattern[str], Callable[[str, re.Match[str]], Entry]], ...] = (
    (re.compile(r"\s*-[0-9]+"), lambda text, _: Entry(text, Kind.NEGATIVE)),
    (re.compile(r"\s*\+?(?P<digits>[0-9]{1,9})(?![0-9])(?P<tail>.*)", re.DOTALL), _index),
    (re.compile(r"MIG-(?P<uuid>GPU-[0-9a-fA-F-]+)/(?P<gi>[0-9]{1,4})/(?P<ci>[0-9]{1,4})\Z"), _old_mig),
    (
        re.compile(r"GPU-[0-9a-fA-F][0-9a-fA-F-]*\Z"),
        lambda text, match: Entry(text, Kind.GPU, uuid=match[0].lower()),
    ),
    (
        re.compile(r"MIG-[0-9a-fA-F][0-9a-fA-F-]*\Z"),
        lambda text, match: Entry(text, Kind.MIG, uuid=match[0].lower()),
    ),
)
_FAMILIES = {Kind.INDEX: "index", Kind.LOOSE_INDEX: "index", Kind.GPU: "GPU-", Kind.MIG: "MIG-", Kind.OLD_MIG: "MIG-"}
