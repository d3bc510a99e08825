"""The rank that kept the others waiting."""

import pytest

from skyrl_doctor.logs.cause.root_cause import find_root_cause
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.match.patterns import installed_patterns
from skyrl_doctor.logs.sentences import explain

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


def cause(*lines: str) -> tuple[str, str]:
    """The sentence of the root cause and that of the ranks or GPUs."""
    found = find_root_cause(
        [scan_chunks("a.log", ["".join(f"{line}\n" for line in lines).encode()], installed_patterns())]
    )
    assert found.root is not None
    return explain(found.root, found.dialect), found.ranks


def test_calls_of_several_groups_are_not_compared_where_the_lines_name_no_group() -> None:
    calls = [(0, 96120, "ALLREDUCE"), (0, 96117, "ALLREDUCE"), (7, 64088, "ALLREDUCE")]
    assert ranks(*calls) == ""


def test_calls_are_compared_within_the_group_of_the_root_cause() -> None:
    groups = ["0(default_pg)", "2(tp)", "0(default_pg)"]
    lines = [
        LINE.format(rank, seq, "ALLREDUCE").replace("[Rank", f"[PG ID {group} PG GUID {group} Rank {rank}] [Rank", 1)
        for rank, seq, group in zip((0, 1, 2), (88, 12, 86), groups, strict=True)
    ]
    assert cause(*lines)[1] == "Behind the others, which wait in ALLREDUCE 88: rank 2 at 86."


def test_the_time_that_a_call_ran_is_told_beside_its_limit() -> None:
    line = LINE.format(1, 88, "ALLREDUCE").replace("600013", "25624887")
    assert cause(line) == (
        "rank 1 waited 25624887 ms (limit 600000 ms) for another rank in ALLREDUCE number 88: that rank died, hangs or took another path",
        "",
    )


def test_the_gravest_xid_is_the_cause_and_other_gpus_are_listed() -> None:
    xid = "[12.5] NVRM: Xid (PCI:0000:00:{}): {}, pid=2811, name=python3, {}"
    lines = (xid.format("05", 43, "Ch 8"), xid.format("07", 31, "MMU Fault"), xid.format("08", 94, "Contained: SM"))
    assert cause(*lines) == (
        "GPU 0000:00:08 had a memory error that it could not correct (Xid 94, contained): only the program that used this memory was ended",
        "Other GPUs with an Xid: 0000:00:05 (Xid 43, line 1), 0000:00:07 (Xid 31, line 2).",
    )
