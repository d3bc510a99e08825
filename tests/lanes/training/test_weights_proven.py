"""A sync of weights that went wrong ends a real run on a CPU with its cause; tests/lanes/gpu has the same for a GPU."""

import time
from pathlib import Path

import pytest

from benchmarks.training_gpu import cpu, prepare
from benchmarks.training_gpu.cases import PROOF, SEPARATE, Case
from benchmarks.training_gpu.marks import FAULT
from benchmarks.training_gpu.memory import Memory
from benchmarks.training_gpu.proofs import Bench

pytestmark = [pytest.mark.verl, pytest.mark.vllm]
LIMIT_S = 900.0


LAYER = "TRN021: model server: a weight sync left 7 parameters as they were: model.layers.1."
PREVIOUS = "TRN021: model server 0 still runs the weights of step 0 after the sync of step 1"
APART = SEPARATE


@pytest.mark.parametrize(
    ("case", "fault", "cause"),
    [
        pytest.param(PROOF, "layer@1", LAYER, id="layer"),
        pytest.param(PROOF, "previous@1", PREVIOUS, id="previous"),
        pytest.param(PROOF, "", "", id="healthy"),
        pytest.param(APART, "layer@1", LAYER, id="separate-layer"),
        pytest.param(APART, "previous@1", PREVIOUS, id="separate-previous"),
        pytest.param(APART._replace(lora_rank=8), "", "", id="separate-lora"),
    ],
)
def test_only_a_sync_that_went_wrong_ends_the_run(tmp_path: Path, case: Case, fault: str, cause: str) -> None:
    case = cpu.small(case)
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
