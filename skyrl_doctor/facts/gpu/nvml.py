"""Reads what children/nvml.py prints."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.gpu.devices import Closed, Gpu, Gpus, Memory, Process, Slice

T = TypeVar("T")
Table = Mapping[str, object]
WHO = "NVML"
NO_DRIVER = frozenset({9, 12})
"""Driver not loaded, library not found: NVML's words for a machine without the driver."""
MIB = 1 << 20
GIB = 1 << 30

# NVIDIA A100-SXM4-80GB MIG 2g.20gb · NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb · NVIDIA A100-SXM4-40GB MIG 1g.5gb+me
PROFILE = re.compile(r"\bMIG (?P<profile>(?:[0-9]+c\.)?[0-9]+g\.[0-9]+gb(?:[+-][a-z.]+)*)\s*\Z")


@record
class Refused:
    """NVML as a whole gave nothing. `code` is NVML's own, None where its Python module is missing."""

    code: int | None
    text: str


def parse_nvml(text: str) -> Gpus | Refused:
    """The GPUs, or why there are none to tell of. Text that is no such answer raises CouldNotLook."""
    answer = _table(_json(text), "the answer")
    if "error" in answer:
        error = _table(answer["error"], "error")
        return Refused(_maybe(error, "code", int), _maybe(error, "text", str) or "no text")
    closed: list[Closed] = []
    gpus = tuple(_gpus(_tables(answer, "gpus"), closed))
    closed += (Closed(_whole(one, "index"), _text(one, "why")) for one in _tables(answer, "closed"))
    return Gpus(source="nvml", driver=_maybe(answer, "driver", str), gpus=gpus, closed=tuple(closed))


def profile_name(gi_slices: int, ci_slices: int, slice_mib: int, gpu_bytes: int) -> str:
    """As nvidia-smi names a slice: its memory in eighths of the GPU's, rounded up, in whole GB of it."""
    eighths = math.ceil(slice_mib * MIB / gpu_bytes * 8)
    gigabytes = math.floor(eighths / 8 * math.ceil(gpu_bytes / GIB) + 0.5)
    shared = f"{ci_slices}c." if ci_slices != gi_slices else ""
    return f"{shared}{gi_slices}g.{gigabytes}gb"


def _gpus(tables: list[Table], closed: list[Closed]) -> Iterator[Gpu]:
    for told in tables:
        index = _whole(told, "index")
        uuid = _maybe(told, "uuid", str)
        if uuid is None:
            closed.append(Closed(index, _refusal(told, "uuid")))
            continue
        if told.get("slices") is None:
            raise CouldNotLook(
                f"{WHO}: GPU {index} is in MIG mode and its slices cannot be listed: {_refusal(told, 'slices')}"
            )
        total = _table(told["memory"], "memory").get("total") if told.get("memory") is not None else None
        slices = [_slice(one, uuid, total) for one in _tables(told, "slices") if _maybe(one, "uuid", str)]
        closed += (
            Closed(index, _maybe(one, "why", str) or _refusal(one, "uuid"), slice_index=_whole(one, "index"))
            for one in (*_tables(told, "closed"), *_tables(told, "slices"))
            if not _maybe(one, "uuid", str)
        )
        yield Gpu(
            index=index,
            uuid=uuid,
            name=_maybe(told, "name", str) or "unnamed",
            mig=_maybe(told, "mig", bool),
            slices=tuple(slices),
            memory=_memory(told),
            processes=_processes(told),
        )


def _slice(told: Table, parent: str, gpu_bytes: object) -> Slice:
    return Slice(
        uuid=_text(told, "uuid"),
        parent=parent,
        index=_whole(told, "index"),
        gi=_maybe(told, "gi", int),
        ci=_maybe(told, "ci", int),
        profile=_profile(told, gpu_bytes),
        memory=_memory(told),
        processes=_processes(told),
    )


def _profile(told: Table, gpu_bytes: object) -> str | None:
    named = PROFILE.search(_maybe(told, "name", str) or "")
    if named:
        return named["profile"]
    if told.get("shape") is None or not isinstance(gpu_bytes, int) or gpu_bytes <= 0:
        return None
    shape = _table(told["shape"], "shape")
    return profile_name(_whole(shape, "gi"), _whole(shape, "ci"), _whole(shape, "memory_mib"), gpu_bytes)


def _memory(told: Table) -> Memory | None:
    if told.get("memory") is None:
        return None
    memory = _table(told["memory"], "memory")
    total, used, free = (_whole(memory, name) // MIB for name in ("total", "used", "free"))
    return Memory(total_mib=total, used_mib=used, free_mib=free) if total else None


def _processes(told: Table) -> tuple[Process, ...] | None:
    if told.get("processes") is None:
        return None
    return tuple(_process(one) for one in _tables(told, "processes"))


def _process(told: Table) -> Process:
    used = _maybe(told, "used", int)
    return Process(pid=_whole(told, "pid"), used_mib=None if used is None else used // MIB)


def _refusal(told: Table, what: str) -> str:
    return _maybe(_table(told.get("refused") or {}, "refused"), what, str) or "no reason told"


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise CouldNotLook(f"{WHO}: the answer does not read as JSON: {text.strip()[:200]!r}") from None


def _table(value: object, what: str) -> Table:
    if not isinstance(value, dict):
        raise _odd(what, value)
    return value


def _tables(told: Table, name: str) -> list[Table]:
    value = told.get(name)
    if not isinstance(value, list):
        raise _odd(name, value)
    return [_table(item, name) for item in value]


def _whole(told: Table, name: str) -> int:
    value = _maybe(told, name, int)
    if value is None or value < 0:
        raise _odd(name, value)
    return value


def _text(told: Table, name: str) -> str:
    value = _maybe(told, name, str)
    if value is None:
        raise _odd(name, value)
    return value


def _maybe(told: Table, name: str, kind: type[T]) -> T | None:
    value = told.get(name)
    if value is None:
        return None
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _odd(name, value)
    return value


def _odd(what: str, value: object) -> CouldNotLook:
    return CouldNotLook(f"{WHO}: the answer has {what} = {str(value)[:80]!r}")
