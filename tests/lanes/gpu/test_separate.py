"""Rollouts on GPUs of their own: weights arrive over NCCL, and the run learns with a critic, an adapter, and several trainers.

pytest -m gpu --require=gpu tests/lanes/gpu/test_separate.py
"""

import json
import subprocess
import sys

import pytest

from benchmarks.training_gpu import compare, prepare
from benchmarks.training_gpu.cases import SEPARATES, Case
from benchmarks.training_gpu.proofs import Bench
from benchmarks.training_gpu.runs import ROOT
from lanes.gpu.count import devices

pytestmark = pytest.mark.gpu
LEAST_PEARSON = 0.95
"""Of rollouts that are up to a few updates old."""


def needs(gpus: int) -> None:
    if devices() < gpus:
        pytest.skip(f"wants {gpus} GPUs")


def test_every_tensor_arrives_over_nccl() -> None:
    pytest.importorskip("verl")
    needs(2)
    words = ["-m", "benchmarks.training_gpu.send", "--gpus", str(devices())]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [one["equal"] for one in found] == [True] * (devices() - 1)


@pytest.mark.parametrize("case", SEPARATES, ids=lambda case: case.name)
def test_each_step_moves_the_weights_and_they_arrive(bench: Bench, case: Case) -> None:
    needs(case.gpus)
    prepare.make_model(case, bench.folder / case.name)
    made = bench.ours(case)
    made.follow(len(case.loops), bench.left())
    assert len(made.steps) == len(case.loops), made.log[-6000:]
    assert made.exit == 0
    assert compare.moved_in_all(made.moved(), len(case.loops)) == 1.0
    assert made.steps[0][compare.PEARSON] >= compare.LEAST_PEARSON
    assert min(step[compare.PEARSON] for step in made.steps) >= LEAST_PEARSON
    assert made.log.count("weights of step") == made.log.count("syncing weights to the model servers")
    assert all(step["weights/probe_s"] <= 1.0 for step in made.steps[1:])
