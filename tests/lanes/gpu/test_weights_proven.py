"""A sync of weights that went wrong ends the run with its cause, and 200 that went well do not.

pytest -m gpu --require=gpu tests/lanes/gpu/test_weights_proven.py
"""

import pytest

from benchmarks.training_gpu import prepare
from benchmarks.training_gpu.cases import PROOF, SEPARATE, SYNCS, Case
from benchmarks.training_gpu.marks import FAULT
from benchmarks.training_gpu.proofs import Bench
from benchmarks.training_gpu.runs import Run
from lanes.gpu.count import devices

pytestmark = pytest.mark.gpu
APART = SEPARATE._replace(name="0.5b-proof-apart")
ADAPTER = PROOF._replace(name="0.5b-proof-lora", lora_rank=8, load_format="safetensors")


def run(bench: Bench, case: Case, fault: str = "") -> Run:
    prepare.make_model(case, bench.folder / case.name)
    found = bench.ours(case, more={FAULT: fault})
    found.follow(len(case.loops), bench.left())
    return found


@pytest.mark.parametrize(
    ("case", "fault", "cause"),
    [
        (PROOF, "nothing@1", "does not run the trainer's weights after the sync of step 1"),
        (PROOF, "layer@0", "a weight sync left 7 parameters as they were: model.layers.1."),
        (PROOF, "layer@1", "a weight sync left 7 parameters as they were: model.layers.1."),
        (PROOF, "previous@1", "still runs the weights of step 0 after the sync of step 1"),
        (ADAPTER, "adapter@1", "still runs the weights of step 0 after the sync of step 1"),
        (APART, "layer@1", "a weight sync left 7 parameters as they were: model.layers.1."),
        (APART, "previous@1", "still runs the weights of step 0 after the sync of step 1"),
    ],
    ids=lambda value: value.name if isinstance(value, Case) else value.partition(" ")[0],
)
def test_a_sync_that_went_wrong_ends_the_run(bench: Bench, case: Case, fault: str, cause: str) -> None:
    if devices() < case.gpus:
        pytest.skip(f"wants {case.gpus} GPUs")
    made = run(bench, case, fault)
    assert made.exit == 1
    assert "TRN021" in made.log, made.log[-6000:]
    assert cause in made.log, [line for line in made.log.splitlines() if "TRN021" in line]


def test_no_healthy_sync_is_refused(bench: Bench) -> None:
    made = run(bench, SYNCS)
    assert len(made.steps) == len(SYNCS.loops), made.log[-6000:]
    assert made.exit == 0
    assert all(step["weights/probe_s"] <= 1.0 for step in made.steps[1:])
