"""A place to run in, for a test of verl and vLLM on GPUs."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.training_gpu.memory import Memory
from benchmarks.training_gpu.proofs import Bench

LIMIT_S = 500.0


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Whatever it started ends with the test."""
    pytest.importorskip("verl")
    pytest.importorskip("vllm")
    told: list[dict[str, Any]] = []
    with Memory(tmp_path / "memory.jsonl") as memory:
        end = time.monotonic() + LIMIT_S
        with Bench(tmp_path, tmp_path, told.append, memory, end, on_cpu=False) as opened:
            yield opened
