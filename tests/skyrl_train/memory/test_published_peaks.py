"""prime-rl's published peaks (benchmarks/results/BENCHMARKS.md, 2026-02-01).

The model was chosen with these rows in view (which logits are kept, copies of experts, bytes of a logit). All rows of
reinforcement learning are here but those that differ only in the GPU; test_kinds_of_runs.py has the supervised ones.
"""

import pytest

from skyrl_train.memory import GIB, Job, budget, device_named, shape_from_config
from skyrl_train.memory.known import known_config
from skyrl_train.memory.prime_job import as_prime

# model, GPUs, LoRA rank, tokens, off-loaded activations, GiB
ROWS = (
    ("Qwen3-0.6B", 1, 0, 16384, False, 12.5),
    ("Qwen3-0.6B", 1, 0, 65536, False, 19.6),
    ("Qwen3-0.6B", 1, 0, 65536, True, 16.1),
    ("Qwen3-0.6B", 4, 0, 65536, False, 12.4),
    ("Qwen3-0.6B", 1, 16, 16384, False, 5.1),
    ("Qwen3-0.6B", 1, 16, 65536, False, 11.5),
    ("Qwen3-0.6B", 1, 16, 65536, True, 7.9),
    ("Qwen3-4B-Instruct-2507", 8, 0, 16384, False, 17.0),
    ("Qwen3-4B-Instruct-2507", 8, 0, 65536, False, 36.1),
    ("Qwen3-4B-Instruct-2507", 8, 16, 16384, False, 10.3),
    ("Qwen3-4B-Instruct-2507", 8, 16, 65536, False, 28.8),
    ("Qwen3-4B-Instruct-2507", 1, 16, 16384, False, 23.3),
    ("Qwen3-4B-Instruct-2507", 1, 16, 16384, True, 20.6),
    ("Qwen3-4B-Instruct-2507", 1, 16, 65536, False, 42.0),
    ("Qwen3-4B-Instruct-2507", 1, 16, 65536, True, 31.1),
    ("Qwen3-30B-A3B-Instruct-2507", 8, 0, 16384, False, 74.6),
    ("Qwen3-30B-A3B-Instruct-2507", 8, 16, 16384, False, 31.6),
    ("Qwen3-30B-A3B-Instruct-2507", 8, 16, 65536, False, 63.7),
    ("Qwen3-30B-A3B-Instruct-2507", 8, 0, 65536, False, 105.4),
    ("Qwen3-235B-A22B-Instruct-2507", 8, 16, 16384, False, 161.5),
    ("Qwen3-235B-A22B-Instruct-2507", 8, 16, 16384, True, 150.3),
    ("INTELLECT-3", 8, 16, 16384, False, 89.7),
    ("INTELLECT-3", 8, 16, 16384, True, 84.2),
    ("INTELLECT-3", 8, 16, 65536, False, 153.6),
    ("INTELLECT-3", 8, 16, 65536, True, 130.3),
)


@pytest.mark.parametrize(("model", "gpus", "rank", "tokens", "away", "measured"), ROWS)
def test_the_peak_is_within_a_tenth(model: str, gpus: int, rank: int, tokens: int, away: bool, measured: float) -> None:
    job = Job(
        prompt_length=1,
        response_length=tokens - 1,
        n_gpus=gpus,
        mini_batch=2 * gpus,
        lora_rank=rank,
        activation_offload=away,
    )
    found = budget(
        shape_from_config(known_config(model) or {}), as_prime(job, None, spares_logits=True), device_named("B200")
    )
    steps = [phase for phase in found.phases if "step" in phase.phase]
    assert max(phase.reserved for phase in steps) / GIB == pytest.approx(measured, rel=0.1)
