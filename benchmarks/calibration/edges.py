"""Runs near the edge of a smaller GPU, which a cap on what torch may reserve stands for.

The cap is on torch alone: the CUDA context, NCCL and a sleeping vLLM take theirs beside it on a real GPU.
"""

from dataclasses import replace

from benchmarks.calibration.campaign import BF16, ENTROPY, PACKED, lora
from benchmarks.calibration.cases import Case, Knobs, case


def _at(limit_gib: float, subject: Case) -> Case:
    return replace(subject, id=f"{subject.id}@{limit_gib:g}", limit_gib=limit_gib)


HALF, MIDDLE, THREE, SEVEN = "qwen2.5-0.5b", "qwen2.5-1.5b", "qwen2.5-3b", "qwen2.5-7b"
LONG = case("0.5b-p4096-r4096", HALF, Knobs(4096, 4096))
TWO_NOCKPT = case("1.5b-mb2-nockpt", MIDDLE, Knobs(micro=2, checkpointing=False))

EDGES: tuple[Case, ...] = (
    _at(20, case("0.5b-mb2", HALF, Knobs(micro=2))),
    _at(20, case("0.5b-entropy", HALF, Knobs(extra=ENTROPY))),
    _at(20, LONG),
    _at(20, case("0.5b-p6144-r1024", HALF, Knobs(6144, 1024))),
    _at(20, case("1.5b-bf16", MIDDLE, Knobs(extra=BF16))),
    _at(20, case("1.5b-p1024-r512", MIDDLE, Knobs(1024, 512))),
    _at(24, LONG),
    _at(24, case("0.5b-mb3", HALF, Knobs(micro=3))),
    _at(24, case("0.5b-packed-mb4-nockpt", HALF, Knobs(micro=4, checkpointing=False, extra=PACKED), flash_attn=True)),
    _at(24, case("1.5b", MIDDLE, Knobs())),
    _at(40, case("1.5b-mb3", MIDDLE, Knobs(micro=3))),
    _at(40, case("1.5b-mb4", MIDDLE, Knobs(micro=4))),
    _at(48, TWO_NOCKPT),
    _at(40, TWO_NOCKPT),
    _at(48, case("3b", THREE, Knobs())),
    _at(80, case("3b", THREE, Knobs())),
    _at(48, case("7b-lora16", SEVEN, Knobs(extra=lora(16)))),
    _at(80, case("7b-bf16", SEVEN, Knobs(extra=BF16))),
)
