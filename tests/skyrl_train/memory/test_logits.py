"""Bytes an element of tokens x vocabulary, as autograd was seen to hold them (verl's functions, operator by operator)."""

from typing import Any

import pytest

from skyrl_train.memory import Job
from skyrl_train.memory.logits import logits_cost

PADDED = {"remove_padding": False, "flash_cross_entropy": False}
PACKED = {"remove_padding": True, "flash_cross_entropy": False, "torch_compile": False}
FLASH = PACKED | {"flash_cross_entropy": True}


@pytest.mark.parametrize(
    ("settings", "entropy", "seen"),
    [
        (PADDED, False, (8, 6, 6)),
        (PADDED, True, (16, 14, 26)),
        (PADDED | {"temperature": 0.7}, False, (10, 6, 6)),
        (PADDED | {"temperature": 0.7}, True, (18, 14, 26)),
        (PADDED | {"entropy_chunk": 16}, True, (16, 14, 26)),  # verl looks at it only where it packs
        (PADDED | {"entropy_checkpointing": True}, True, (14, 6, 16)),  # 10 seen, and logsumexp's own copy
        (PADDED | {"flash_cross_entropy": True}, False, (4, 4, 6)),
        (PADDED | {"flash_cross_entropy": True}, True, (14, 12, 26)),
        (PACKED, False, (6, 4, 4)),
        (PACKED, True, (14, 14, 26)),
        (PACKED | {"entropy_chunk": 16}, True, (14, 12, 13)),
        (FLASH, False, (2, 2, 2)),
        (FLASH, True, (14, 10, 26)),
        (FLASH | {"temperature": 0.7}, False, (4, 2, 4)),
        (FLASH | {"entropy_chunk": 16}, True, (10.5, 10, 13)),
        (
            FLASH | {"entropy_chunk": 16, "entropy_gradient": False},
            True,
            (3.5, 2, 2),
        ),  # 16 of 128 rows, then given back
        (PACKED | {"entropy_chunk": 16, "entropy_gradient": False}, True, (6, 4, 4)),
    ],
)
def test_what_training_holds(settings: dict[str, Any], entropy: bool, seen: tuple[float, float, float]) -> None:
    job = Job(prompt_length=100, response_length=28, **settings)
    cost = logits_cost(1, job, 128, entropy=entropy, train=True)
    assert (cost.forward / 128, cost.kept / 128, cost.backward / 128) == pytest.approx(seen)


@pytest.mark.parametrize(
    ("settings", "entropy", "forward"),
    [
        (PADDED, False, 4),
        (PADDED, True, 14),  # 10 seen, and logsumexp's (self - maxes).exp_()
        (PADDED | {"temperature": 0.7}, True, 16),
        (PACKED, False, 2),
        (PACKED, True, 14),
        (PACKED | {"entropy_chunk": 16}, True, 3.5),
        (FLASH | {"torch_compile": True}, True, 2),
    ],
)
def test_what_the_log_prob_phase_holds(settings: dict[str, Any], entropy: bool, forward: float) -> None:
    job = Job(prompt_length=100, response_length=28, **settings)
    assert logits_cost(1, job, 128, entropy=entropy, train=False).forward / 128 == forward


def test_fused_kernels_hold_a_chunk_whatever_the_length() -> None:
    job = Job(prompt_length=4096, response_length=4096, fused_kernels="torch")
    short, long = (logits_cost(1000, job, tokens, entropy=False, train=True) for tokens in (512, 8192))
    assert short == long
