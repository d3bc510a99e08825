"""The rank that kept the others waiting."""

import pytest

from skyrl_doctor.logs.cause.root_cause import find_root_cause
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.match.patterns import installed_patterns

LINE = "[rank{0}]:[E302 09:30:00.5 ProcessGroupNCCL.cpp:616] [Rank {0}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={1}, OpType={2}, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600013 milliseconds before timing out."


def ranks(*calls: tuple[int, int, str], more: str = "") -> str:
    scans = [
        scan_chunks(f"rank{call[0]}.log", [f"{LINE.format(*call)}{more}\n".encode()], installed_patterns(), order=at)
        for at, call in enumerate(calls)
    ]
    found = find_root_cause(scans)
    assert found.root is not None
    assert found.root.failure.name == "TRN008"
    return found.ranks


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (
            [(0, 88, "ALLREDUCE"), (1, 88, "ALLREDUCE"), (3, 88, "ALLREDUCE")],
            "3 ranks wait in ALLREDUCE 88; no time-out from rank 2: look there first.",
        ),
        (
            [(0, 88, "ALLREDUCE"), (1, 86, "ALLREDUCE"), (2, 88, "ALLREDUCE")],
            "Behind the others, which wait in ALLREDUCE 88: rank 1 at 86.",
        ),
        (
            [(0, 88, "ALLREDUCE"), (1, 88, "BROADCAST")],
            "The ranks wait in different calls: rank 0 in ALLREDUCE, rank 1 in BROADCAST.",
        ),
        ([(0, 88, "ALLREDUCE"), (1, 12, "BROADCAST")], ""),
        ([(0, 88, "ALLREDUCE"), (7, 88, "ALLREDUCE")], ""),
        ([(1, 88, "ALLREDUCE")], ""),
        ([(0, 88, "ALLREDUCE"), (1, 88, "ALLREDUCE")], ""),
    ],
)
def test_the_rank_that_is_missing_or_behind_is_named(calls: list[tuple[int, int, str]], expected: str) -> None:
    assert ranks(*calls) == expected


def test_where_ray_hides_lines_no_rank_is_called_silent() -> None:
    calls = [(0, 88, "ALLREDUCE"), (1, 88, "ALLREDUCE"), (3, 88, "ALLREDUCE")]
    assert ranks(*calls, more=" [repeated 2x across cluster]") == ""
