"""The value of CUDA_VISIBLE_DEVICES with which the training stack can use a MIG slice.

Ray, vLLM and verl read the entries of CUDA_VISIBLE_DEVICES as numbers of physical GPUs. A slice has a UUID and no
number; 0 means the slice only if it is the only device that this step can see.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from skyrl_train.contracts.record import record
from skyrl_train.node.settings import Preparation, Setting
from skyrl_train.node.visible_devices import NO_DEVICES, VARIABLE, Entry, Form, Kind, VisibleDevices, parse

WORKING_INDEX = "0"


@record(kw_only=True)
class SliceId:
    """The names of one MIG slice: its UUID, its GPU's UUID, and its instance numbers if the driver reports them."""

    uuid: str
    parent: str
    gi: int | None = None
    ci: int | None = None


class Why(StrEnum):
    """Why no value works."""

    EMPTY = "empty"
    NO_DEVICES = "no devices"
    NOT_HERE = "not here"
    SEVERAL_SLICES = "several slices"
    OTHERS_BESIDE = "other devices"


@record
class Refusal:
    """No value is right. `reason` states what was found and what is expected."""

    why: Why
    reason: str


def mig_remap(value: str | None, *, slices: Sequence[SliceId], gpus: Sequence[str]) -> Preparation | Refusal:
    """The setting that makes a MIG slice usable, an empty Preparation if none is needed, or a Refusal.

    `slices` are the MIG slices and `gpus` the UUIDs of the physical GPUs that this step can open.
    """
    visible = parse(value)
    if visible.form in (Form.EMPTY, Form.BLANK):
        return Refusal(Why.EMPTY, f"{visible.label} hides every GPU from CUDA; set it to {WORKING_INDEX} or unset it")
    if any(entry.kind is Kind.NO_DEVICES for entry in visible.entries[:1]):
        return Refusal(
            Why.NO_DEVICES,
            f"{VARIABLE}={NO_DEVICES}: Slurm gave this step no GPU; start the step with --gres=gpu:1",
        )
    unknown = [entry for entry in visible.entries if _names_a_device(entry) and not _is_here(entry, slices, gpus)]
    if unknown:
        return Refusal(Why.NOT_HERE, _unknown_text(unknown, slices, gpus))
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
                why=f"names the only MIG slice of this step, {slices[0].uuid}, by number",
            ),
        )
    )


def ray_gpus(value: str | None, *, physical: int) -> int:
    """The number of GPUs that Ray finds: NVML's physical GPUs, at most one for each entry of the variable."""
    if value is None:
        return physical
    if value in ("", NO_DEVICES):
        return 0
    return min(physical, len(value.split(",")))


def find_slice(entry: Entry, slices: Sequence[SliceId]) -> int | None:
    """The index of the slice that an entry names by UUID, by a prefix of it, or by GPU and instance numbers."""
    if entry.kind is Kind.OLD_MIG:
        wanted = (entry.uuid, entry.gi, entry.ci)
        return _only(number for number, one in enumerate(slices) if (one.parent.lower(), one.gi, one.ci) == wanted)
    if entry.kind is Kind.MIG and entry.uuid:
        return _find_prefix(entry.uuid, [one.uuid for one in slices])
    return None


def find_gpu(entry: Entry, gpus: Sequence[str]) -> int | None:
    """The index of the GPU that an entry names by UUID or by a unique prefix of it."""
    return _find_prefix(entry.uuid, gpus) if entry.kind is Kind.GPU and entry.uuid else None


def _names_a_device(entry: Entry) -> bool:
    return entry.kind is Kind.GPU or entry.names_mig


def _is_here(entry: Entry, slices: Sequence[SliceId], gpus: Sequence[str]) -> bool:
    """Whether this step can open the device of an entry. Spaces are ignored: CUDA refuses them, but the new value has none."""
    (bare,) = parse(entry.text.strip()).entries
    return find_slice(bare, slices) is not None or find_gpu(bare, gpus) is not None


def _ambiguity(visible: VisibleDevices, slices: Sequence[SliceId], gpus: Sequence[str]) -> Refusal | None:
    if len(visible.reached) > 1:
        return Refusal(
            Why.SEVERAL_SLICES,
            f"{VARIABLE} names {len(visible.reached)} MIG slices; use one: CUDA gives a process only one slice, "
            "so more slices are not more GPUs",
        )
    if len(slices) > 1:
        return Refusal(
            Why.OTHERS_BESIDE,
            f"this step can open {len(slices)} MIG slices and {VARIABLE} names one of them; give the step only one slice, because "
            f"{WORKING_INDEX} could mean another one",
        )
    if len(gpus) > 1:
        return Refusal(
            Why.OTHERS_BESIDE,
            f"this step can open {len(gpus)} physical GPUs and {VARIABLE} names a slice of one; give the step only that GPU, "
            f"because {WORKING_INDEX} could mean another one",
        )
    return None


def _unknown_text(unknown: Sequence[Entry], slices: Sequence[SliceId], gpus: Sequence[str]) -> str:
    names = ", ".join(entry.text.strip() for entry in unknown)
    here = ", ".join(one.uuid for one in slices) or ", ".join(gpus) or "no GPU"
    return f"{VARIABLE} names {names}, which this step cannot open, so CUDA ignores the rest of the list; this step can open: {here}"


def _find_prefix(start: str, names: Sequence[str]) -> int | None:
    lowered = [name.lower() for name in names]
    if start in lowered:
        return lowered.index(start)
    return _only(number for number, name in enumerate(lowered) if name.startswith(start))


def _only(numbers: Iterator[int]) -> int | None:
    found = list(numbers)
    return found[0] if len(found) == 1 else None
