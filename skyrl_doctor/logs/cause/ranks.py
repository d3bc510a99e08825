"""The rank that kept the others waiting, by the time-outs of all ranks whose lines are there; the GPUs with other Xids."""

import re
from collections.abc import Iterable

from skyrl_doctor.logs.judge.hits import Hit

_REPEATED = "across cluster]"
"""Ray shows one of many equal lines: then a rank without a line need not be silent."""
_MOST = 8
_GROUP = re.compile(r"\[PG (?:ID )?(?P<id>\d{1,6}\b[^\]\n]{0,200}?) Rank \d")
"""torch 2.3 and newer. Calls are counted for each process group, so numbers of two groups cannot be compared."""


def describe_ranks(root: Hit, hits: Iterable[Hit]) -> str:
    """The ranks behind the others or without a time-out; empty where the lines do not tell."""
    pattern = re.compile(root.failure.signature.pattern)
    if not {"rank", "seq", "op"} <= pattern.groupindex.keys():
        return ""
    group = _group(root.line.text)
    lines = [hit.line.text for hit in hits if hit.failure == root.failure and _group(hit.line.text) == group]
    calls: dict[int, tuple[int, str]] = {}
    is_one_group = True
    for match in filter(None, map(pattern.search, lines)):
        if match["seq"]:
            call = calls.setdefault(int(match["rank"]), (int(match["seq"]), match["op"]))
            is_one_group &= bool(group) or call[0] == int(match["seq"])
    if len(calls) < 2 or not is_one_group:
        return ""
    numbers, operations = {seq for seq, _ in calls.values()}, {op for _, op in calls.values()}
    if len(operations) > 1:  # numbers of different process groups cannot be compared
        each = ", ".join(f"rank {rank} in {op}" for rank, (_, op) in sorted(calls.items())[:_MOST])
        return f"The ranks wait in different calls: {each}." if len(numbers) == 1 else ""
    operation, latest = operations.pop(), max(numbers)
    if len(numbers) > 1:
        behind = [f"rank {rank} at {seq}" for rank, (seq, _) in sorted(calls.items()) if seq < latest]
        return f"Behind the others, which wait in {operation} {latest}: {', '.join(behind[:_MOST])}."
    silent = [rank for rank in range(max(calls)) if rank not in calls]
    if not 0 < len(silent) < len(calls) or any(_REPEATED in line for line in lines):
        return ""
    return f"{len(calls)} ranks wait in {operation} {latest}; no time-out from {_listed(silent)}: look there first."


def describe_gpus(root: Hit, hits: Iterable[Hit]) -> str:
    """The Xids of other GPUs; empty where the root cause is no Xid or the driver names no other GPU."""
    own = _xid(root)
    if own is None:
        return ""
    others: dict[tuple[str, str], int] = {}
    for hit in hits:
        xid = _xid(hit)
        if xid is not None and xid[0] != own[0]:
            others.setdefault(xid, hit.line.number)
    listed = [f"{gpu} (Xid {number}, line {line})" for (gpu, number), line in others.items()]
    more = f" and {len(listed) - _MOST} more" if len(listed) > _MOST else ""
    return f"Other GPUs with an Xid: {', '.join(listed[:_MOST])}{more}." if listed else ""


def _xid(hit: Hit) -> tuple[str, str] | None:
    pattern = re.compile(hit.failure.signature.pattern)
    match = pattern.search(hit.line.text) if {"gpu", "xid"} <= pattern.groupindex.keys() else None
    return match and (match["gpu"], match["xid"])


def _group(text: str) -> str:
    """The process group of a time-out; empty in the lines of an older torch, which do not name it."""
    found = _GROUP.search(text)
    return found["id"] if found else ""


def _listed(ranks: list[int]) -> str:
    shown = ", ".join(map(str, ranks[:_MOST])) + (", …" if len(ranks) > _MOST else "")
    return f"rank {shown}" if len(ranks) == 1 else f"ranks {shown}"
