"""What is bad in the figures of a step, as a table: for how many steps in a row, and what that means."""

import functools
import math
from collections.abc import Callable, Mapping

from skyrl_doctor.core.model import Remedy, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.rules.base import fix_config

Metrics = Mapping[str, float]
CORRELATION = "training/rollout_actor_probs_pearson_corr"


@record(kw_only=True)
class Condition:
    """`seen` says what is wrong with a step's figures, "" if nothing, None if the figures are not there."""

    key: str
    seen: Callable[[Metrics], str | None]
    wanted: str
    after: int
    root: bool = False
    severity: Severity = Severity.WARNING
    remedy: Remedy | None = None

    @property
    def id(self) -> str:
        """The failure that its key begins with."""
        return self.key.partition(".")[0]


_root = functools.partial(Condition, root=True, severity=Severity.ERROR)


def first(metrics: Metrics, *names: str) -> float | None:
    return next((metrics[name] for name in names if name in metrics), None)


def above(limit: float, *names: str) -> Callable[[Metrics], str | None]:
    return _compared(lambda value: value > limit, *names)


def below(limit: float, *names: str) -> Callable[[Metrics], str | None]:
    return _compared(lambda value: value < limit, *names)


def _compared(is_bad: Callable[[float], bool], *names: str) -> Callable[[Metrics], str | None]:
    def seen(metrics: Metrics) -> str | None:
        name = next((name for name in names if name in metrics), None)
        if name is None or math.isnan(metrics[name]):
            return None
        return f"{name} is {metrics[name]:g}" if is_bad(metrics[name]) else ""

    return seen


_LOSSES = ("actor/", "critic/", "loss/", "Loss", "train/loss")


def not_finite(metrics: Metrics) -> str | None:
    losses = {name: value for name, value in metrics.items() if name.startswith(_LOSSES)}
    if not losses:
        return None
    bad = [f"{name} is {value}" for name, value in losses.items() if not math.isfinite(value)]
    return ", ".join(bad[:4]) if bad and not nothing_to_learn(metrics) else ""


def nothing_to_learn(metrics: Metrics) -> str | None:
    """verl gives NaN for the advantages of a batch without a token to learn from, and trains on."""
    masked, rollouts = metrics.get("rollout_metrics/num_mask_out"), metrics.get("rollout_metrics/rollouts")
    if masked and rollouts and masked >= rollouts:
        return f"all {rollouts:.0f} rollouts are masked"
    advantages = first(metrics, "critic/advantages/mean", "critic/advantages/max")
    if advantages is None:
        return None
    return "critic/advantages/mean is nan, no token is learnt from," if math.isnan(advantages) else ""


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
    return None


CONDITIONS = (
    _root(
        key="TRN005.metrics",
        seen=not_finite,
        wanted="finite numbers",
        after=3,
        remedy=fix_config(
            "go back to the last checkpoint with a smaller learning rate, or clip the gradient",
            actor__optim__lr="a third of it",
        ),
    ),
    _root(
        key="TRN001.empty",
        seen=nothing_to_learn,
        wanted="some tokens to learn from",
        after=3,
        remedy=fix_config("look at why the rollouts fail: finish reasons, the runtime's log"),
    ),
    Condition(
        key="AGT019.masked",
        seen=mask_ratio,
        wanted="at most half of them",
        after=3,
        remedy=fix_config("look at the finish reasons of the masked rollouts"),
    ),
    Condition(
        key="AGT021.rewards",
        seen=all_alike,
        wanted="rewards that differ: of equal ones nothing is learnt",
        after=5,
        remedy=fix_config("score a solved and an unsolved task by hand: gold patch 1, no patch 0"),
    ),
    Condition(
        key="AGT021.gradient",
        seen=_compared(lambda value: abs(value) < 1e-9, "actor/grad_norm"),
        wanted="a gradient",
        after=5,
        remedy=fix_config("look at rewards, masks and actor/lr: no advantage is other than 0"),
    ),
    _root(
        key="AGT016.logprob",
        seen=below(0.9, CORRELATION),
        wanted="at least 0.99: trainer and inference do not see the same tokens or weights",
        after=3,
        remedy=fix_config("train on the engine's own tokens, and see that its weights are those of the trainer"),
    ),
    Condition(
        key="AGT016.drift",
        seen=below(0.98, CORRELATION),
        wanted="at least 0.99",
        after=5,
        remedy=fix_config("compare tokens of the engine with those of the trainer; look at precision and weight sync"),
    ),
    Condition(
        key="TRN004.empty",
        seen=below(1.0, "response_length/min"),
        wanted="at least 1: the reward of an empty response lands on a padding token",
        after=3,
        remedy=fix_config("mask empty responses"),
    ),
    Condition(
        key="AGT001.no-call",
        seen=above(0.5, "rollout_metrics/no_call_ratio"),
        wanted="at most 0.5",
        after=3,
        severity=Severity.ERROR,
        remedy=fix_config("show the model the XML form of a call in its prompt"),
    ),
    _root(
        key="AGT015.no-calls",
        seen=above(0.95, "rollout_metrics/no_call_ratio"),
        wanted="calls: this model makes none",
        after=2,
        remedy=fix_config("take a model that was trained to call tools"),
    ),
    Condition(
        key="AGT019.context",
        seen=above(0.5, "rollout_metrics/context_exceed_ratio"),
        wanted="at most 0.5",
        after=3,
        remedy=fix_config("raise the context, or shorten what tools print"),
    ),
    Condition(
        key="AGT019.loops",
        seen=above(0.3, "rollout_metrics/stuck_in_a_loop_ratio"),
        wanted="at most 0.3",
        after=3,
    ),
    Condition(
        key="AGT019.clipped",
        seen=above(0.5, "response_length/clip_ratio"),
        wanted="at most 0.5: cut answers earn nothing",
        after=5,
        remedy=fix_config("raise the response length"),
    ),
)
