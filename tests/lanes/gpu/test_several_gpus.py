"""Steps over two and four GPUs: FSDP2 with a reference model, with a critic and tensor parallelism, with an adapter; and a resume.

pytest -m gpu --require=gpu tests/lanes/gpu/test_several_gpus.py
"""

import pytest

from benchmarks.training_gpu import compare, prepare
from benchmarks.training_gpu.cases import FOUR_GPUS, OURS, TWO_GPUS, Case
from benchmarks.training_gpu.proofs import Bench
from benchmarks.training_gpu.runs import Run
from lanes.gpu.count import devices

pytestmark = pytest.mark.gpu


def run(bench: Bench, case: Case) -> Run:
    if devices() < case.gpus:
        pytest.skip(f"needs {case.gpus} GPUs, and here are {devices()}")
    prepare.make_model(case, bench.folder / case.name)
    found = bench.ours(case)
    found.follow(len(case.loops), bench.left())
    return found


@pytest.mark.parametrize("case", TWO_GPUS + FOUR_GPUS, ids=lambda case: case.name)
def test_both_engines_agree_after_each_step(bench: Bench, case: Case) -> None:
    made = run(bench, case)
    assert len(made.steps) == len(case.loops), made.log[-6000:]
    assert made.exit == 0
    assert min(step[compare.PEARSON] for step in made.steps) >= compare.LEAST_PEARSON
    assert compare.moved_in_all(made.moved(), len(case.loops)) == 1.0
    assert bench.memory.peaks.get(case.name, 0.0) <= case.gib


def test_a_checkpoint_of_two_gpus_is_resumed_on_two_and_refused_on_one_and_four(bench: Bench) -> None:
    case = TWO_GPUS[0]._replace(name="saved", save_every=1, loops=(OURS,))
    saved = run(bench, case)
    assert saved.exit == 0, saved.log[-6000:]
    for gpus in (1, 4):
        other = run(bench, case._replace(gpus=gpus, loops=(OURS,) * 2)) if gpus <= devices() else None
        if other:
            assert other.exit == 2
            assert "CKP002" in other.log or "Run on that number of GPUs" in other.log, other.log[-3000:]
    resumed = run(bench, case._replace(loops=(OURS,) * 2))
    assert resumed.exit == 0, resumed.log[-6000:]
    assert [step["training/global_step"] for step in resumed.steps] == [2]
