"""What is wrong with the figures of one step: "" if nothing, None where the step does not have them."""

import math
from collections.abc import Callable

from skyrl_doctor.watch.figures import (
    ADVANTAGE_SIZE,
    ADVANTAGES,
    GRADIENT,
    LENGTH,
    LONGEST,
    LOSS,
    Figure,
    Metrics,
)

Fault = Callable[[Metrics], str | None]
_LOSSES = ("actor/", "critic/", "loss/")
"""verl's and skyrl_train's losses. Other frameworks print figures below such names that may be missing in a good step."""
LONG_TOKENS = 256


def above(limit: float, figure: Figure) -> Fault:
    return compared(lambda value: value > limit, figure)


def below(limit: float, figure: Figure) -> Fault:
    return compared(lambda value: value < limit, figure)


def outside(low: float, high: float, figure: Figure) -> Fault:
    return compared(lambda value: not low <= value <= high, figure)


def compared(is_bad: Callable[[float], bool], figure: Figure) -> Fault:
    def fault(metrics: Metrics) -> str | None:
        name = figure.name(metrics)
        if name is None or math.isnan(metrics[name]):
            return None
        return f"{name} is {metrics[name]:g}" if is_bad(metrics[name]) else ""

    return fault


def not_a_number(metrics: Metrics) -> str | None:
    return _losses(metrics, math.isnan)


def infinite(metrics: Metrics) -> str | None:
    return _losses(metrics, math.isinf)


def _losses(metrics: Metrics, is_bad: Callable[[float], bool]) -> str | None:
    named = {*GRADIENT.names, *LOSS.names}
    losses = {name: value for name, value in metrics.items() if name.startswith(_LOSSES) or name in named}
    if not losses:
        return None
    bad = [f"{name} is {value}" for name, value in losses.items() if is_bad(value)]
    return ", ".join(bad[:4]) if bad and not nothing_to_learn(metrics) else ""


def nothing_to_learn(metrics: Metrics) -> str | None:
    """verl computes NaN as the advantage of a batch without a trained token, and goes on."""
    masked, rollouts = metrics.get("rollout_metrics/num_mask_out"), metrics.get("rollout_metrics/rollouts")
    if masked and rollouts and masked >= rollouts:
        return f"all {rollouts:.0f} rollouts are masked"
    advantages = ADVANTAGES.value(metrics)
    if advantages is None:
        return None
    return "critic/advantages/mean is nan (no token is trained on)" if math.isnan(advantages) else ""


def mask_ratio(metrics: Metrics) -> str | None:
    masked, rollouts = metrics.get("rollout_metrics/num_mask_out"), metrics.get("rollout_metrics/rollouts")
    if masked is None or not rollouts:
        return None
    return f"{masked:.0f} of {rollouts:.0f} rollouts are masked" if masked > 0.5 * rollouts else ""


def all_alike(metrics: Metrics) -> str | None:
    for name in ("critic/score", "critic/rewards"):
        low, high = metrics.get(f"{name}/min"), metrics.get(f"{name}/max")
        if low is not None and high is not None:
            return f"every {name} is {low:g}" if low == high else ""
    size = ADVANTAGE_SIZE.name(metrics)
    return None if size is None else f"{size} is 0 (the rewards of each group are equal)" if metrics[size] == 0 else ""


def at_the_limit(metrics: Metrics) -> str | None:
    """SkyRL prints no ratio of cut responses: the mean is at the maximum where most of them are cut."""
    mean, longest = LENGTH.name(metrics), LONGEST.value(metrics)
    if mean not in LENGTH.skyrl or longest is None:
        return None
    is_cut = longest >= LONG_TOKENS and metrics[mean] >= 0.95 * longest
    return f"{mean} is {metrics[mean]:g}, and the longest response has {longest:g}" if is_cut else ""
