"""Weights that are sent from process to process arrive as they are; tests/lanes/gpu has the same over NCCL."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.verl
ROOT = Path(__file__).parents[3]
LIMIT_S = 300.0


@pytest.mark.parametrize("bucket_kib", [64, 4096], ids=["tensors larger than a bucket", "one bucket"])
def test_every_tensor_arrives_in_each_sync(bucket_kib: int) -> None:
    words = ["-m", "benchmarks.training_gpu.send", "--cpu", "--gpus", "3", "--gib", "0.001"]
    words += ["--bucket-mib", f"{bucket_kib / 1024:g}"]
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert sorted((one["rank"], one["equal"], len(one["seconds"])) for one in found) == [(1, True, 3), (2, True, 3)]
