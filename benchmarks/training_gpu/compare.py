"""From the metrics of both runs to the figures that are wanted. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

Metrics = Mapping[str, float]
STEP, GENERATION = "timing_s/step", "timing_s/gen"
PEARSON = "training/rollout_actor_probs_pearson_corr"
MOST_OVERHEAD, LEAST_PEARSON, LEAST_TOKENS_S = 0.02, 0.99, 1000.0


def figures(steps: Sequence[Metrics], *, started_s: float, sequences: int) -> dict[str, float | None]:
    """Of one run. The first step warms caches and compiles: medians go over the others."""
    warm = steps[1:] or steps
    lengths = [step["response_length/mean"] * sequences for step in warm if "response_length/mean" in step]
    generated = _median(step.get(GENERATION) for step in warm)
    return {
        "steps": len(steps),
        "start_to_first_step_s": started_s - (steps[0].get(STEP, 0.0) if steps else 0.0),
        "step_s": _median(step.get(STEP) for step in warm),
        "generation_s": generated,
        "tokens_per_s": median(lengths) / generated if lengths and generated else None,
        "pearson": min((step[PEARSON] for step in steps if PEARSON in step), default=None),
        "peak_gib": max((step.get("actor/perf/max_memory_allocated_gb", 0.0) for step in steps), default=0.0),
        "grad_norm": _median(step.get("actor/grad_norm") for step in steps),
    }


def verdicts(ours: Mapping[str, float | None], plain: Mapping[str, float | None], *, moved: bool) -> dict[str, bool]:
    """Whether each of the wanted holds. What was not measured does not hold."""

    def holds(value: float | None, least: float) -> bool:
        return value is not None and value >= least

    overhead = _overhead(ours["step_s"], plain["step_s"])
    start = _overhead(ours["start_to_first_step_s"], plain["start_to_first_step_s"])
    return {
        "all_steps": holds(ours["steps"], 3),
        "overhead": overhead is not None and overhead <= MOST_OVERHEAD,
        "start_up": start is not None and start <= 0,
        "pearson": holds(ours["pearson"], LEAST_PEARSON),
        "tokens_per_s": holds(ours["tokens_per_s"], LEAST_TOKENS_S),
        "weights_moved": moved,
    }


def _overhead(ours: float | None, plain: float | None) -> float | None:
    return None if ours is None or not plain else ours / plain - 1


def _median(values: Iterable[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return median(found) if found else None
