"""What benchmarks/pairs.py makes of its arguments and of the requirements of a build."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks.pairs import ROOT, Pair, PairError, Result, own_needs, row, run, torch_of


def test_a_pair_in_any_order() -> None:
    assert Pair.of(["vllm==0.31.0", "verl==0.9.1"]) == Pair(verl="0.9.1", vllm="0.31.0")
    for words in (
        ["verl==0.9.1", "verl==0.9.0"],
        ["verl==0.9.1", "sglang==1"],
        ["verl", "vllm"],
        ["verl==;", "vllm==1"],
    ):
        with pytest.raises(ValueError, match="expected verl==VERSION and vllm==VERSION"):
            Pair.of(words)


def test_the_torch_that_a_build_asks_for() -> None:
    assert torch_of("numba==0.65\ntorch==2.13.0; platform_machine == 'x86_64'\ntorchaudio\n") == "torch==2.13.0"
    assert torch_of("torchvision==1.0\n") == "torch"


def test_what_the_tests_need_is_read_from_the_lock_of_the_lane() -> None:
    needs = own_needs()
    assert {"pytest", "pytest-xdist", "hypothesis"} <= set(needs)
    assert [name for name in needs if name.startswith(("torch", "#"))] == []


def test_the_documented_results_are_those_of_the_data() -> None:
    docs = (ROOT / "docs/training.md").read_text(encoding="utf-8").splitlines()
    results = (ROOT / "benchmarks/pairs.jsonl").read_text(encoding="utf-8").splitlines()
    expected = [row(Result(**json.loads(line))) for line in results]
    assert [line for line in docs if "| `benchmarks.pairs`" in line] == expected


def test_a_row_and_a_reason() -> None:
    versions = {"torch": "2.13.0+cpu", "ray": "2.60.0"}
    passed = Result("0.9.1", "0.31.0", "passed in 90 s", versions, ["test_settings", "test_training"])
    assert row(passed) == (
        "| 0.9.1 | 0.31.0 | `benchmarks.pairs` on a CPU with test_settings, test_training: passed in 90 s | "
        "torch 2.13.0+cpu, ray 2.60.0 |"
    )
    assert row(Result("0.9.1", "0.32.0", "not installed: no solution")) == (
        "| 0.9.1 | 0.32.0 | `benchmarks.pairs`: not installed: no solution |  |"
    )
    with pytest.raises(PairError, match=r"^no solution$"):
        run([sys.executable, "-c", "import sys; sys.exit('reading\\nno solution')"])
    assert Path(run([sys.executable, "-c", "import sys; print(sys.executable)"]).strip()).name.startswith("python")
