"""Reads CUDA_VISIBLE_DEVICES as CUDA does: the kind of each entry, and which entries CUDA uses.

The driver reads from the left and stops at the first entry that it does not understand or whose kind differs from the
first. If a device is named twice, no device is visible. Indices are read with strtoul, so " 1gpu" is 1 for CUDA while
Python's int() refuses it. A UUID may be followed, but not preceded, by a space. Observed with driver 580 on an H200.
"""

import re
from collections.abc import Callable
from enum import StrEnum

from skyrl_train.contracts.record import record

VARIABLE = "CUDA_VISIBLE_DEVICES"
NO_DEVICES = "NoDevFiles"
"""Slurm's value for a step without a GPU."""


class Form(StrEnum):
    """The kind of the whole value."""

    UNSET = "unset"
    EMPTY = "empty"
    BLANK = "blank"
    LIST = "list"


class Kind(StrEnum):
    """The kind of one entry. NEGATIVE, NOTHING, GARBAGE and NO_DEVICES end the list."""

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
    """One entry: `text` as written, and the parts that its kind has."""

    text: str
    kind: Kind
    number: int | None = None
    uuid: str | None = None
    gi: int | None = None
    ci: int | None = None

    @property
    def names_mig(self) -> bool:
        """Whether the entry is meant as a MIG slice, even if it is malformed."""
        return self.text.strip().upper().startswith("MIG-")


@record
class VisibleDevices:
    """The variable and its entries. `value` None is unset."""

    value: str | None
    form: Form
    entries: tuple[Entry, ...] = ()

    @property
    def reached(self) -> tuple[Entry, ...]:
        """The entries that CUDA uses: those before the first invalid one, and none at all if a device repeats."""
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
    def label(self) -> str:
        """The variable and its value, for messages."""
        return f"{VARIABLE} is unset" if self.value is None else f"{VARIABLE}={self.value!r}"


def parse(value: str | None) -> VisibleDevices:
    """Parses the value of the variable. Any text is accepted."""
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


# "GPU-8932f937" may mean a full UUID: CUDA accepts any unique prefix. Nine digits suffice for an index; longer numbers
# name no device.
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
