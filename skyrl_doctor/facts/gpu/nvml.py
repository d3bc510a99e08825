"""Parses the output of children/nvml.py."""

import math
import re
from collections.abc import Iterator

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import unknown_if_malformed
from skyrl_doctor.facts.gpu.devices import Closed, Gpu, Gpus, Memory, Process, Slice
from skyrl_train.contracts.typed import Fields, parse_object

WHO = "NVML"
NO_DRIVER = frozenset({9, 12})
"""NVML's error codes for `driver not loaded` and `library not found`: this machine has no driver."""
MIB = 1 << 20
GIB = 1 << 30

# NVIDIA A100-SXM4-80GB MIG 2g.20gb · NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb · NVIDIA A100-SXM4-40GB MIG 1g.5gb+me
PROFILE = re.compile(r"\bMIG (?P<profile>(?:[0-9]+c\.)?[0-9]+g\.[0-9]+gb(?:[+-][a-z.]+)*)\s*\Z")


@record
class Refused:
    """NVML as a whole failed. `code` is NVML's error code, None if its Python module is missing."""

    code: int | None
    text: str


@unknown_if_malformed()
def parse_nvml(text: str) -> Gpus | Refused:
    """The GPUs, or the error of NVML as a whole. Raises CouldNotLook for any other text."""
    answer = parse_object(text, WHO)
    error = answer.inner_or_none("error")
    if error is not None:
        return Refused(error.integer("code", None), error.text("text", "") or "no message")
    closed: list[Closed] = []
    gpus = tuple(_gpus(answer.objects("gpus"), closed))
    closed += (Closed(_count(one, "index"), one.text("why")) for one in answer.objects("closed"))
    return Gpus(source="nvml", driver=answer.text("driver", None), gpus=gpus, closed=tuple(closed))


def profile_name(gi_slices: int, ci_slices: int, slice_mib: int, gpu_bytes: int) -> str:
    """The name of a slice as in nvidia-smi. Its size is a number of eighths of the GPU's memory, rounded up, in GB."""
    eighths = math.ceil(slice_mib * MIB / gpu_bytes * 8)
    gigabytes = math.floor(eighths / 8 * math.ceil(gpu_bytes / GIB) + 0.5)
    shared = f"{ci_slices}c." if ci_slices != gi_slices else ""
    return f"{shared}{gi_slices}g.{gigabytes}gb"


def _gpus(found: tuple[Fields, ...], closed: list[Closed]) -> Iterator[Gpu]:
    for gpu in found:
        index = _count(gpu, "index")
        uuid = gpu.text("uuid", None)
        if uuid is None:
            closed.append(Closed(index, _refusal(gpu, "uuid")))
            continue
        if "slices" not in gpu:
            raise CouldNotLook(
                f"{WHO}: GPU {index} is in MIG mode and its slices cannot be listed: {_refusal(gpu, 'slices')}"
            )
        memory = gpu.inner_or_none("memory")
        total = memory.value("total") if memory is not None else None
        slices = [_slice(one, uuid, total) for one in gpu.objects("slices") if one.text("uuid", "")]
        closed += (
            Closed(index, one.text("why", "") or _refusal(one, "uuid"), slice_index=_count(one, "index"))
            for one in (*gpu.objects("closed"), *gpu.objects("slices"))
            if not one.text("uuid", "")
        )
        yield Gpu(
            index=index,
            uuid=uuid,
            name=gpu.text("name", "") or "unnamed",
            mig=gpu.flag("mig", None),
            slices=tuple(slices),
            memory=_memory(gpu),
            processes=_processes(gpu),
        )


def _slice(found: Fields, parent: str, gpu_bytes: object) -> Slice:
    return Slice(
        uuid=found.text("uuid"),
        parent=parent,
        index=_count(found, "index"),
        gi=found.integer("gi", None),
        ci=found.integer("ci", None),
        profile=_profile(found, gpu_bytes),
        memory=_memory(found),
        processes=_processes(found),
    )


def _profile(found: Fields, gpu_bytes: object) -> str | None:
    named = PROFILE.search(found.text("name", ""))
    if named:
        return named["profile"]
    shape = found.inner_or_none("shape")
    if shape is None or not isinstance(gpu_bytes, int) or gpu_bytes <= 0:
        return None
    return profile_name(_count(shape, "gi"), _count(shape, "ci"), _count(shape, "memory_mib"), gpu_bytes)


def _memory(found: Fields) -> Memory | None:
    memory = found.inner_or_none("memory")
    if memory is None:
        return None
    total, used, free = (_count(memory, name) // MIB for name in ("total", "used", "free"))
    return Memory(total_mib=total, used_mib=used, free_mib=free) if total else None


def _processes(found: Fields) -> tuple[Process, ...] | None:
    return tuple(map(_process, found.objects("processes"))) if "processes" in found else None


def _process(found: Fields) -> Process:
    used = found.integer("used", None)
    return Process(pid=_count(found, "pid"), used_mib=None if used is None else used // MIB)


def _refusal(found: Fields, what: str) -> str:
    refused = found.inner_or_none("refused")
    return (refused.text(what, "") if refused is not None else "") or "no reason given"


def _count(found: Fields, name: str) -> int:
    return found.integer(name, at_least=0)
