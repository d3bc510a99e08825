"""A run on a GPU that is killed goes on from its last checkpoint, in each mode.

pytest -m gpu --require=gpu tests/lanes/gpu/test_resume.py
"""

import pytest

from benchmarks.training_gpu import proofs, toy
from benchmarks.training_gpu.proofs import Bench
from lanes.gpu.count import devices
from skyrl_train.checkpoints.saved import examine

pytestmark = pytest.mark.gpu
STEP = "training/global_step"


@pytest.mark.parametrize("mode", ["sync", "colocate_async", "separate_async"])
def test_a_killed_run_goes_on(bench: Bench, mode: str) -> None:
    if mode == "separate_async" and devices() < 2:
        pytest.skip("wants two GPUs")
    proofs.make_toy_model(bench.folder)
    saved = bench.folder / "toy" / "toy_checkpoints" / "skyrl" / "run" / "global_step_3"

    def is_saved() -> bool:
        return saved.is_dir() and examine(str(saved)).complete and examine(str(saved)).marked

    killed = proofs.begin_toy(bench, mode=mode, save_every=1)
    assert killed.until(is_saved, bench.left()), killed.log[-6000:]
    killed.end()
    before = [int(step[STEP]) for step in killed.steps]
    again = proofs.begin_toy(bench, mode=mode, save_every=1)
    again.follow(toy.STEPS - 3, bench.left())
    after = [int(step[STEP]) for step in again.steps]
    assert again.exit == 0, again.log[-6000:]
    assert after == list(range(after[0], toy.STEPS + 1))
    assert 4 <= after[0] <= max(before) + 1
    assert again.log.count("weights of step") == again.log.count("syncing weights to the model servers")
