"""A sync of weights that went wrong ends a real run on a CPU with its cause; tests/lanes/gpu has the same for a GPU."""

import time
from pathlib import Path

import pytest

from benchmarks.training_gpu import cpu, prepare
from benchmarks.training_gpu.cases import PROOF
from benchmarks.training_gpu.marks import FAULT
from benchmarks.training_gpu.memory import Memory
from benchmarks.training_gpu.proofs import Bench

pytestmark = [pytest.mark.verl, pytest.mark.vllm]
LIMIT_S = 900.0


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("layer@1", "TRN021: model server: a weight sync left 7 parameters as they were: model.layers.1."),
        ("previous@1", "TRN021: model server 0 still runs the weights of step 0 after the sync of step 1"),
        ("", ""),
    ],
    ids=lambda value: value.partition("@")[0] or "healthy",
)
def test_only_a_sync_that_went_wrong_ends_the_run(tmp_path: Path, fault: str, cause: str) -> None:
    case = cpu.small(PROOF)
    prepare.make_model(case, tmp_path / case.name)
    end = time.monotonic() + LIMIT_S
    with (
        Memory(tmp_path / "memory.jsonl") as memory,
        Bench(tmp_path, tmp_path, print, memory, end, on_cpu=True) as bench,
    ):
        run = bench.ours(case, more={FAULT: fault})
        run.follow(len(case.loops), bench.left())
    assert run.exit == (1 if fault else 0), run.log[-6000:]
    assert cause in run.log
    assert ("TRN021" in run.log) == bool(fault)
