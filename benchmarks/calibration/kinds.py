"""How well each kind of run is predicted: at full length, and at mixed lengths by the expected figure.

The expected figure is made as `budget` makes it: from the median and the 99th percentile of the prompts and of the replies,
without the lengths of the single micro batches.
"""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.calibration.cases import A, Case
from skyrl_train.memory import Lengths

Line = Mapping[str, Any]


def _has(line: Line, key: str) -> bool:
    return bool(line["job"].get(f"{A}.{key}"))


KINDS = {
    "FSDP over 2 GPUs": lambda line: line["gpus"] == 2,
    "FSDP over 4 GPUs": lambda line: line["gpus"] == 4,
    "sequence parallel 2, packed": lambda line: line["job"].get(f"{A}.actor.ulysses_sequence_parallel_size") == 2,
    "LoRA": lambda line: line["gpus"] > 1 and _has(line, "model.lora_rank"),
    "critic": lambda line: line["gpus"] > 1 and line["job"]["algorithm.adv_estimator"] == "gae",
    "7B, all weights": lambda line: (
        line["gpus"] > 1 and line["shape"] == "qwen2.5-7b" and not _has(line, "model.lora_rank")
    ),
    "mixture of experts": lambda line: "num_experts" in line["model"],
    "dynamic batches": lambda line: line["gpus"] > 1 and _has(line, "actor.use_dynamic_bsz"),
}
"""The kinds of runs that the calibration on several GPUs added."""


@dataclass(frozen=True)
class Row:
    """A measured run: by how much the figure is too high, as a share."""

    line: Line
    off: float

    @property
    def is_mixed(self) -> bool:
        return len(set(self.line["lengths"])) > 1


def samples(line: Line) -> list[tuple[int, int]]:
    """(prompt, reply) tokens of each sample of the run."""
    case = Case(line["id"], line["shape"], line["job"], tuple(line["fill"]), tuple(line.get("reply_fill") or ()))
    return case.lengths()


def quantiles(lengths: Sequence[int]) -> Lengths:
    """The median and the 99th percentile, as a user reads them from earlier rollouts."""
    ordered = sorted(lengths)
    return Lengths(round(statistics.median(ordered)), ordered[math.ceil(0.99 * len(ordered)) - 1])


def percent(values: Sequence[float]) -> str:
    if not values:
        return "not measured"
    sizes = [abs(value) for value in values]
    return f"{len(sizes):4}{statistics.median(sizes):8.1%}{max(sizes):8.1%}"


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Median and worst of each kind."""
    yield f"{'':<30}{'full length':>22}{'mixed lengths, expected':>26}"
    yield f"{'kind':<30}" + f"{'runs  median   worst':>22}{'runs  median   worst':>26}"
    groups = {"all": rows} | {name: [row for row in rows if is_of(row.line)] for name, is_of in KINDS.items()}
    for name, found in groups.items():
        full, mixed = [[row.off for row in found if row.is_mixed is mixed] for mixed in (False, True)]
        yield f"{name:<30}{percent(full):>22}{percent(mixed):>26}"
