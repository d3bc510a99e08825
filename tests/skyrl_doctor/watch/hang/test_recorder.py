"""Flight records: plain pickles as torch writes them."""

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.watch.hang.explain import Hang
from skyrl_doctor.watch.hang.processes import JobProcess
from skyrl_doctor.watch.hang.recorder import Last, dumps_of, explain, parse


def record(*calls: tuple[int, str], group: str = "0") -> bytes:
    entries = [
        {
            "process_group": (group, "default_pg"),
            "collective_seq_id": number,
            "profiling_name": name,
            "state": "scheduled",
            "input_sizes": [[2]],
        }
        for number, name in calls
    ]
    return pickle.dumps({"version": "2.10", "entries": entries}, protocol=2)


def last(rank: str, number: int, name: str) -> Last:
    return Last(rank=rank, group="0", number=number, name=name, state="scheduled")


def test_the_rank_that_is_behind() -> None:
    first = parse(record((1, "nccl:all_reduce"), (2, "nccl:broadcast")), "0")
    second = parse(record((1, "nccl:all_reduce")), "1")
    assert (first, second) == ([last("0", 2, "nccl:broadcast")], [last("1", 1, "nccl:all_reduce")])
    assert explain([*first, *second]) == Hang(
        "rank 1 did not start collective 2 (nccl:broadcast) of group 0; its last one is 1 (nccl:all_reduce)",
        (
            "rank 0, group 0: collective 2, nccl:broadcast, scheduled",
            "rank 1, group 0: collective 1, nccl:all_reduce, scheduled",
        ),
    )


def test_ranks_that_started_different_collectives() -> None:
    found = explain([last("0", 7, "nccl:broadcast"), last("1", 7, "nccl:all_gather"), last("2", 7, "nccl:broadcast")])
    assert found is not None
    assert found.message == (
        "the ranks started different collectives as number 7: rank 0, 2 nccl:broadcast and rank 1 nccl:all_gather"
    )


def test_ranks_that_agree_say_nothing() -> None:
    assert explain([last("0", 7, "a"), last("1", 7, "a")]) is None
    assert explain([]) is None


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("/nowhere/at/all",)


@pytest.mark.parametrize("data", [b"", b"x", pickle.dumps(Evil()), pickle.dumps([1]), pickle.dumps({"entries": [{}]})])
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(CouldNotLook, match="not a flight record that the watch reads"):
        parse(data, "0")


def test_the_files_of_the_job_s_ranks(tmp_path: Path) -> None:
    for rank in ("0", "1", "7"):
        (tmp_path / f"trace_{rank}").write_bytes(record((3, f"c{rank}")))
    old = tmp_path / "trace_1"
    os.utime(old, (1.0, 1.0))
    environ = {"TORCH_FR_DUMP_TEMP_FILE": f"{tmp_path}/trace_"}
    processes = [JobProcess(pid=n, name="python", python="", rank=str(n), environ=environ) for n in (0, 1)]
    now = (tmp_path / "trace_0").stat().st_mtime
    assert dumps_of(LocalMachine(), processes, now) == [last("0", 3, "c0")]
