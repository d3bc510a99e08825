"""MIG slices: which value of CUDA_VISIBLE_DEVICES the training stack can work with.

Ray, vLLM and verl take the entries of CUDA_VISIBLE_DEVICES for numbers of physical GPUs. A slice has a UUID and no such
number; 0 means it only where it is the one thing that this step can see.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from skyrl_train.contracts.record import record
from skyrl_train.node.settings import Preparation, Setting
from skyrl_train.node.visible_devices import NO_DEVICES, VARIABLE, Entry, Form, Kind, VisibleDevices, parse

WORKING_INDEX = "0"


@record(kw_only=True)
class SliceId:
    """The names of one MIG slice: its own UUID, its GPU's, and its instance numbers where the driver tells them."""

    uuid: str
    parent: str
    gi: int | None = None
    ci: int | None = None


class Why(StrEnum):
    """Why no value would do."""

    EMPTY = "empty"
    NO_DEVICES = "no devices"
    NOT_HERE = "not here"
    SEVERAL_SLICES = "several slices"
    OTHERS_BESIDE = "others beside the slice"


@record
class Refusal:
    """No remap is right; `reason` says what was seen and what is wanted."""

    why: Why
    reason: str


def mig_remap(value: str | None, *, slices: Sequence[SliceId], gpus: Sequence[str]) -> Preparation | Refusal:
    """The setting that makes a MIG step usable, nothing where nothing needs it, or why there is none.

    `slices` are the MIG slices and `gpus` the UUIDs of the physical GPUs that this step can open.
    """
    visible = parse(value)
    if visible.form in (Form.EMPTY, Form.BLANK):
        return Refusal(Why.EMPTY, f"{visible.shown} hides every GPU from CUDA; wanted {WORKING_INDEX} or unset")
    if any(entry.kind is Kind.NO_DEVICES for entry in visible.entries[:1]):
        return Refusal(
            Why.NO_DEVICES,
            f"{VARIABLE}={NO_DEVICES}: Slurm gave this step no GPU; wanted a step with --gres=gpu:1",
        )
    strangers = [entry for entry in visible.entries if _names_a_device(entry) and not _is_here(entry, slices, gpus)]
    if strangers:
        return Refusal(Why.NOT_HERE, _stranger_text(strangers, slices, gpus))
    if not any(entry.names_mig for entry in visible.entries):
        return Preparation()
    ambiguity = _ambiguity(visible, slices, gpus)
    if ambiguity is not None:
        return ambiguity
    return Preparation(
        settings=(
            Setting(
                name=VARIABLE,
                value=WORKING_INDEX,  # FIX(GPU001)
                cures="GPU001",
                why=f"the one MIG slice of this step, {slices[0].uuid}, as a number",
            ),
        )
    )


def ray_gpus(value: str | None, *, physical: int) -> int:
    """How many GPUs Ray finds: the physical ones that NVML counts, at most one for each entry of the variable."""
    if value is None:
        return physical
    if value in ("", NO_DEVICES):
        return 0
    return min(physical, len(value.split(",")))


def find_slice(entry: Entry, slices: Sequence[SliceId]) -> int | None:
    """Which slice a MIG entry names: by its UUID or a beginning of it, or by GPU and instance numbers."""
    if entry.kind is Kind.OLD_MIG:
        wanted = (entry.uuid, entry.gi, entry.ci)
        return _only(number for number, one in enumerate(slices) if (one.parent.lower(), one.gi, one.ci) == wanted)
    if entry.kind is Kind.MIG and entry.uuid:
        return _beginning(entry.uuid, [one.uuid for one in slices])
    return None


def find_gpu(entry: Entry, gpus: Sequence[str]) -> int | None:
    """Which GPU a GPU- entry names, by its UUID or a beginning of it that fits one GPU alone."""
    return _beginning(entry.uuid, gpus) if entry.kind is Kind.GPU and entry.uuid else None


def _names_a_device(entry: Entry) -> bool:
    return entry.kind is Kind.GPU or entry.names_mig


def _is_here(entry: Entry, slices: Sequence[SliceId], gpus: Sequence[str]) -> bool:
    """Spaces apart: CUDA cannot follow a UUID behind a space, but the remap mends that too."""
    (bare,) = parse(entry.text.strip()).entries
    return find_slice(bare, slices) is not None or find_gpu(bare, gpus) is not None


def _ambiguity(visible: VisibleDevices, slices: Sequence[SliceId], gpus: Sequence[str]) -> Refusal | None:
    if len(visible.reached) > 1:
        return Refusal(
            Why.SEVERAL_SLICES,
            f"{VARIABLE} names {len(visible.reached)} MIG slices; wanted one: CUDA gives a process one slice, so that "
            "further slices are no further GPUs",
        )
    if len(slices) > 1:
        return Refusal(
            Why.OTHERS_BESIDE,
            f"{len(slices)} MIG slices are open to this step and {VARIABLE} names one of them; wanted one open: "
            f"{WORKING_INDEX} could mean the other",
        )
    if len(gpus) > 1:
        return Refusal(
            Why.OTHERS_BESIDE,
            f"{len(gpus)} physical GPUs are open to this step and {VARIABLE} names a slice of one; wanted that GPU "
            f"alone: {WORKING_INDEX} could mean another",
        )
    return None


def _stranger_text(strangers: Sequence[Entry], slices: Sequence[SliceId], gpus: Sequence[str]) -> str:
    names = ", ".join(entry.text.strip() for entry in strangers)
    here = ", ".join(one.uuid for one in slices) or ", ".join(gpus) or "no GPU"
    return f"{VARIABLE} names {names}, which this step cannot open, so that CUDA stops there; open to it: {here}"


def _beginning(start: str, names: Sequence[str]) -> int | None:
    lowered = [name.lower() for name in names]
    if start in lowered:
        return lowered.index(start)
    return _only(number for number, name in enumerate(lowered) if name.startswith(start))


def _only(numbers: Iterator[int]) -> int | None:
    found = list(numbers)
    return found[0] if len(found) == 1 else None
