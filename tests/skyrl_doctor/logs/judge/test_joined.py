"""Errors that a terminal's width has cut are named; what stands one below the other is not put together otherwise."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.logs.cause.root_cause import find_root_cause
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.match.patterns import installed_patterns

MIG = "ValueError: invalid literal for int() with base 10: 'MIG-7f2b0c52-9c31-5f5e-8a5d-0b3e1b1a6c11'"
FREE = (
    "ValueError: Free memory on device cuda:0 (3.11/19.5 GiB) on startup is less than desired GPU memory utilization "
    "(0.92, 17.94 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
)
STAMP = "ERROR 03-02 04:01:14 [core.py:718] "


def cause(lines: Iterable[str]) -> str:
    found = find_root_cause(
        [scan_chunks("x.log", ["".join(f"{line}\n" for line in lines).encode()], installed_patterns())]
    )
    return found.root.failure.name if found.root else f"unknown: {found.unknown.text}" if found.unknown else "healthy"


@pytest.mark.parametrize("at", range(len("ValueError: invalid literal for"), len(MIG) - 8))
def test_cut_anywhere(at: int) -> None:
    assert cause([MIG[:at], MIG[at:]]) == "GPU001"


@pytest.mark.parametrize(
    "before", ["", STAMP, "(EngineCore_DP0 pid=316) ", f"(EngineCore_DP0 pid=316) {STAMP}", "[rank0]: "]
)
@pytest.mark.parametrize("width", [70, 80, 100])
def test_whatever_stands_before_each_line(before: str, width: int) -> None:
    lines = [f"{before}{FREE[at : at + width]}" for at in range(0, len(FREE), width)]
    assert cause([*lines, "RuntimeError: Engine core initialization failed. See root cause above."]) == "MEM003"


def test_in_a_frame() -> None:
    lines = [
        "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use  │",
        "│ CUDA with multiprocessing, you must",
    ]
    assert cause(lines) == "ENV004"


def test_the_diagnosis_shows_it_among_its_matches() -> None:
    found = find_root_cause([scan_chunks("x.log", [f"{MIG[:52]}\n{MIG[52:]}\n".encode()], installed_patterns())])
    assert found.root is not None
    assert (found.root.line.number, found.matches, found.unknown) == (1, (found.root,), None)


def test_two_lines_that_mean_something_by_themselves() -> None:
    assert cause(["ValueError: the answer is no", "next: 'MIG-7f2b0c52'"]) == "unknown: ValueError: the answer is no"


def test_what_is_spoken_of_below_is_no_cause() -> None:
    lines = ["KeyError: 'x'. See docs: if you get CUDA out", "of memory. Tried to allocate 2 GiB, use a smaller batch"]
    assert cause(lines).startswith("unknown: KeyError")


def test_a_known_cause_comes_before_it() -> None:
    assert cause([MIG[:52], MIG[52:], "OSError: [Errno 28] No space left on device"]) == "CKP003"


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=200), max_size=4))
def test_nothing_stops_it(below: list[str]) -> None:
    lines = "".join(f"{text}\n" for text in below)
    assert (
        scan_chunks("x.log", [f"ValueError: of nothing\n{lines}".encode("utf-8", "replace")], installed_patterns()).file
        == "x.log"
    )
