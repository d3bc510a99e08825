"""One step of GRPO, and one of PPO with a critic, on a GPU: verl's trainer, vLLM and our loop at the shape of a real model.

pytest -m gpu --require=gpu tests/lanes/gpu/test_step.py
"""

import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.training_gpu import compare, prepare
from benchmarks.training_gpu.cases import CASES, CRITIC, OURS, Case
from benchmarks.training_gpu.memory import Memory
from benchmarks.training_gpu.proofs import Bench

pytestmark = pytest.mark.gpu
LIMIT_S = 400.0


@pytest.mark.parametrize("case", [CASES[0], CRITIC], ids=["grpo", "ppo"])
def test_one_step_moves_the_weights_and_both_engines_agree(tmp_path: Path, case: Case) -> None:
    pytest.importorskip("verl")
    pytest.importorskip("vllm")
    case = case._replace(loops=(OURS,))
    told: list[dict[str, Any]] = []
    prepare.make_model(case, tmp_path / case.name)
    with Memory(tmp_path / "memory.jsonl") as memory:
        bench = Bench(tmp_path, tmp_path, told.append, memory, time.monotonic() + LIMIT_S, on_cpu=False)
        with bench:
            run = bench.ours(case)
            run.follow(1, LIMIT_S)
    assert len(run.steps) == 1, run.log[-6000:]
    assert run.exit == 0
    assert compare.moved_in_all(run.moved(), 1) == 1.0
    assert run.steps[0][compare.PEARSON] >= compare.LEAST_PEARSON
    assert memory.peaks.get(case.name, 0.0) <= case.gib  # not every driver tells what a process holds
