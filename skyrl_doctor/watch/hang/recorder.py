"""The flight recorder of NCCL and Gloo: which collective each rank started last.

torch writes it where a time-out is noticed: one pickle a rank. The pickle holds plain values only, so it is read with
an unpickler that knows no class at all.
https://docs.pytorch.org/tutorials/unstable/flight_recorder_tutorial.html
"""

import io
import os
import pickle
import re
from collections.abc import Mapping, Sequence
from typing import Any

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.watch.hang.explain import Hang
from skyrl_doctor.watch.hang.processes import JobProcess

VARIABLES = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")
DEFAULT = "/tmp/nccl_trace_rank_"  # noqa: S108 -- torch's own default
MOST_BYTES, MOST_RANKS, MOST_AGE_S = 32 << 20, 64, 7200.0
_RANK = re.compile(r"(\d{1,6})$")


@record(kw_only=True)
class Last:
    """The last collective of a rank in one process group."""

    rank: str
    group: str
    number: int
    name: str
    state: str


class _Plain(pickle.Unpickler):
    """Refuses every class and function."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name}")


def dumps_of(machine: Machine, processes: Sequence[JobProcess], now: float) -> list[Last]:
    """The last collectives in the files of these ranks; without files an empty list."""
    prefixes = {process.environ.get(name, "") for process in processes for name in VARIABLES} - {""} or {DEFAULT}
    ranks = {process.rank for process in processes if process.rank}
    found: list[Last] = []
    for prefix in sorted(prefixes):
        directory, start = os.path.split(prefix)
        try:
            names = [name for name in machine.listdir(directory or "/") if name.startswith(start)]
        except CouldNotLook:
            continue
        for name in sorted(names)[:MOST_RANKS]:
            rank = _RANK.search(name)
            if rank is not None and rank[1] in ranks:
                found += _read(machine, os.path.join(directory, name), rank[1], now)
    return found


def _read(machine: Machine, path: str, rank: str, now: float) -> list[Last]:
    try:
        stat = machine.stat(path)
        if now - stat.mtime > MOST_AGE_S or stat.size > MOST_BYTES or stat.uid != os.getuid():
            return []
        return parse(machine.read_bytes(path, limit_bytes=MOST_BYTES), rank)
    except CouldNotLook:
        return []


def parse(data: bytes, rank: str) -> list[Last]:
    """The last entry of each process group. Raises CouldNotLook where the data is no flight record."""
    try:
        dump = _Plain(io.BytesIO(data)).load()
        last: dict[str, Last] = {}
        for entry in dump["entries"]:
            group = str(entry["process_group"][0])
            last[group] = Last(
                rank=rank,
                group=group,
                number=int(entry["collective_seq_id"]),
                name=str(entry["profiling_name"]),
                state=str(entry["state"]),
            )
    except (pickle.UnpicklingError, ValueError, KeyError, TypeError, IndexError, AttributeError, EOFError, MemoryError):
        raise CouldNotLook("not a flight record that the watch reads") from None
    return list(last.values())


def explain(last: Sequence[Last]) -> Hang | None:
    """The rank that is behind in a process group, or that started another collective."""
    groups: dict[str, list[Last]] = {}
    for one in last:
        groups.setdefault(one.group, []).append(one)
    for group, members in groups.items():
        found = _different(members)
        if found:
            lines = tuple(
                f"rank {one.rank}, group {group}: collective {one.number}, {one.name}, {one.state}" for one in members
            )
            return Hang(found, lines)
    return None


def _different(members: Sequence[Last]) -> str:
    newest = max(one.number for one in members)
    behind = [one for one in members if one.number < newest]
    if behind:
        ahead = next(one for one in members if one.number == newest)
        names = ", ".join(one.rank for one in behind)
        return (
            f"rank {names} did not start collective {newest} ({ahead.name}) of group {ahead.group}; "
            f"its last one is {behind[0].number} ({behind[0].name})"
        )
    names_of: Mapping[str, list[str]] = {
        name: [one.rank for one in members if one.name == name] for name in dict.fromkeys(one.name for one in members)
    }
    if len(names_of) < 2:
        return ""
    calls = " and ".join(f"rank {', '.join(ranks)} {name}" for name, ranks in names_of.items())
    return f"the ranks started different collectives as number {newest}: {calls}"
