"""The rank that kept the others waiting, by the time-outs of all ranks whose lines are there."""

import re
from collections.abc import Iterable

from skyrl_doctor.logs.judge.hits import Hit

_REPEATED = "across cluster]"
"""Ray shows one of many equal lines: then a rank without a line need not be silent."""
_MOST = 8


def describe_ranks(root: Hit, hits: Iterable[Hit]) -> str:
    """The ranks behind the others or without a time-out; empty where the lines do not tell."""
    pattern = re.compile(root.failure.signature.pattern)
    if not {"rank", "seq", "op"} <= pattern.groupindex.keys():
        return ""
    lines = [hit.line.text for hit in hits if hit.failure == root.failure]
    calls: dict[int, tuple[int, str]] = {}
    for match in filter(None, map(pattern.search, lines)):
        if match["seq"]:
            calls.setdefault(int(match["rank"]), (int(match["seq"]), match["op"]))
    if len(calls) < 2:
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


def _listed(ranks: list[int]) -> str:
    shown = ", ".join(map(str, ranks[:_MOST])) + (", …" if len(ranks) > _MOST else "")
    return f"rank {shown}" if len(ranks) == 1 else f"ranks {shown}"
