"""From the metrics of the runs to the figures that are wanted. Pure."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.training_gpu.cases import OURS, OWN, WARM

Metrics = Mapping[str, float]
STEP, GENERATION = "timing_s/step", "timing_s/gen"
PEARSON = "training/rollout_actor_probs_pearson_corr"
LENGTH = "response_length/mean"
MOST_OVERHEAD, LEAST_PEARSON, LEAST_TOKENS_S, LEAST_STEPS = 0.02, 0.99, 1000.0, 3


def figures(steps: Sequence[Metrics], *, sequences: int, warm: int = 1) -> dict[str, float | None]:
    """Of one run, or of the steps of one loop. The first steps warm caches and compile: medians go over the others."""
    rest = steps[warm:] or steps
    speeds = [step[LENGTH] * sequences / step[GENERATION] for step in rest if step.get(GENERATION) and LENGTH in step]
    return {
        "steps": len(steps),
        "step_s": middle([step[STEP] for step in rest if STEP in step]),
        "generation_s": middle([step[GENERATION] for step in rest if GENERATION in step]),
        "tokens_per_s": middle(speeds),
        "response_tokens": middle([step[LENGTH] for step in rest if LENGTH in step]),
        "pearson": min((step[PEARSON] for step in steps if PEARSON in step), default=None),
        "torch_peak_gib": max((step.get("actor/perf/max_memory_allocated_gb", 0.0) for step in steps), default=None),
    }


def by_loop(steps: Sequence[Metrics], loops: Sequence[str]) -> dict[str, list[Metrics]]:
    """The steps that are compared, those of each loop by itself."""
    paired = list(zip(steps, loops, strict=False))[WARM:]
    return {name: [step for step, loop in paired if loop == name] for name in (OURS, OWN)}


def loop_overhead(ours: Sequence[Metrics], own: Sequence[Metrics]) -> float | None:
    """What our loop adds, as a share of a step with verl's own: generation is all of a step that a loop has a part in, the
    rest is the same code on a batch of the same size."""
    first, second = (middle([step[GENERATION] for step in steps]) for steps in (ours, own))
    whole = middle([step[STEP] for step in own])
    return None if first is None or second is None or not whole else (first - second) / whole


def overhead(ours: Sequence[Metrics], own: Sequence[Metrics], key: str = STEP) -> float | None:
    """How much longer our steps take than those with verl's own loop, as a share: median against median."""
    first, second = middle([step[key] for step in ours]), middle([step[key] for step in own])
    return None if first is None or not second else first / second - 1


def verdicts(found: Mapping[str, Any]) -> dict[str, bool]:
    """Whether each of the wanted holds, of what `found` has; what should have been measured and was not does not."""
    checks = {
        "steps": lambda value: value >= LEAST_STEPS,
        "overhead": lambda value: value <= MOST_OVERHEAD,
        "start_up": lambda value: value <= 0,
        "step_time": lambda value: value <= MOST_OVERHEAD,
        "pearson": lambda value: value >= LEAST_PEARSON,
        "tokens_per_s": lambda value: value >= LEAST_TOKENS_S,
        "memory": lambda value: value <= 0,
        "moved": lambda value: value > 0,
        "rise": lambda value: value > 0,
    }
    return {name: value is not None and checks[name](value) for name, value in found.items()}


def moved_in_all(lines: Sequence[Mapping[str, float]], steps: int) -> float:
    """The smallest share of tensors that an optimiser step moved; 0 where steps are missing."""
    shares = [line["moved"] / line["tensors"] if line["tensors"] else 0.0 for line in lines]
    return min(shares, default=0.0) if len(shares) >= steps else 0.0


def middle(values: Sequence[float]) -> float | None:
    return median(values) if values else None
