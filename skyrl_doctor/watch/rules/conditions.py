"""The bad figures of a step, as a table: for how many steps in a row, and what they mean."""

import functools
import math
from collections.abc import Callable, Mapping

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Advice, Change
from skyrl_doctor.watch.rules.base import fix_config

Metrics = Mapping[str, float]
CORRELATION = "training/rollout_actor_probs_pearson_corr"


@record(kw_only=True)
class Condition:
    """`fault` gives what is wrong with a step's figures, "" if nothing, None if the figures are missing."""

    key: str
    fault: Callable[[Metrics], str | None]
    expected: str
    after: int
    root: bool = False
    severity: Severity = Severity.WARNING
    advice: Advice | None = None

    @property
    def id(self) -> str:
        """The id that its key begins with."""
        return self.key.partition(".")[0]


_root = functools.partial(Condition, root=True, severity=Severity.ERROR)


def first(metrics: Metrics, *names: str) -> float | None:
    return next((metrics[name] for name in names if name in metrics), None)


def above(limit: float, *names: str) -> Callable[[Metrics], str | None]:
    return _compared(lambda value: value > limit, *names)


def below(limit: float, *names: str) -> Callable[[Metrics], str | None]:
    return _compared(lambda value: value < limit, *names)


def _compared(is_bad: Callable[[float], bool], *names: str) -> Callable[[Metrics], str | None]:
    def fault(metrics: Metrics) -> str | None:
        name = next((name for name in names if name in metrics), None)
        if name is None or math.isnan(metrics[name]):
            return None
        return f"{name} is {metrics[name]:g}" if is_bad(metrics[name]) else ""

    return fault


_LOSSES = ("actor/", "critic/", "loss/", "Loss", "train/loss")


def not_finite(metrics: Metrics) -> str | None:
    losses = {name: value for name, value in metrics.items() if name.startswith(_LOSSES)}
    if not losses:
        return None
    bad = [f"{name} is {value}" for name, value in losses.items() if not math.isfinite(value)]
    return ", ".join(bad[:4]) if bad and not nothing_to_learn(metrics) else ""


def nothing_to_learn(metrics: Metrics) -> str | None:
    """verl computes NaN as the advantage of a batch without a trained token, and goes on."""
    masked, rollouts = metrics.get("rollout_metrics/num_mask_out"), metrics.get("rollout_metrics/rollouts")
    if masked and rollouts and masked >= rollouts:
        return f"all {rollouts:.0f} rollouts are masked"
    advantages = first(metrics, "critic/advantages/mean", "critic/advantages/max")
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
    return None


CONDITIONS = (
    _root(
        key="TRN005.metrics",
        fault=not_finite,
        expected="finite numbers",
        after=3,
        advice=fix_config(
            "resume from the last checkpoint with a lower learning rate, or clip the gradient",
            Change("actor.lr", times=1 / 3),
        ),
    ),
    _root(
        key="TRN001.empty",
        fault=nothing_to_learn,
        expected="at least one token to train on",
        after=3,
        advice=fix_config("find out why the rollouts fail: check their finish reasons and the runtime's log"),
    ),
    Condition(
        key="AGT019.masked",
        fault=mask_ratio,
        expected="at most half of them",
        after=3,
        advice=fix_config("check the finish reasons of the masked rollouts"),
    ),
    Condition(
        key="AGT021.rewards",
        fault=all_alike,
        expected="different rewards: equal ones give no gradient",
        after=5,
        advice=fix_config("score a solved and an unsolved task by hand: the gold patch must get 1, no patch 0"),
    ),
    Condition(
        key="AGT021.gradient",
        fault=_compared(lambda value: abs(value) < 1e-9, "actor/grad_norm"),
        expected="a gradient above 0",
        after=5,
        advice=fix_config("check rewards, masks and the learning rate: all advantages are 0"),
    ),
    _root(
        key="AGT016.logprob",
        fault=below(0.9, CORRELATION),
        expected="at least 0.99: trainer and inference use different tokens or weights",
        after=3,
        advice=fix_config("train on the engine's own tokens, and check that the engine has the trainer's weights"),
    ),
    Condition(
        key="AGT016.drift",
        fault=below(0.98, CORRELATION),
        expected="at least 0.99",
        after=5,
        advice=fix_config("compare the engine's tokens with the trainer's; check precision and weight sync"),
    ),
    Condition(
        key="TRN004.empty",
        fault=below(1.0, "response_length/min"),
        expected="at least 1: the reward of an empty response goes to a padding token",
        after=3,
        advice=fix_config("mask empty responses"),
    ),
    Condition(
        key="AGT001.no-call",
        fault=above(0.5, "rollout_metrics/no_call_ratio"),
        expected="at most 0.5",
        after=3,
        severity=Severity.ERROR,
        advice=fix_config("show the model the XML form of a call in its prompt"),
    ),
    _root(
        key="AGT015.no-calls",
        fault=above(0.95, "rollout_metrics/no_call_ratio"),
        expected="at most 0.95: this model makes no calls",
        after=2,
        advice=fix_config("use a model that was trained to call tools"),
    ),
    Condition(
        key="AGT019.context",
        fault=above(0.5, "rollout_metrics/context_exceed_ratio"),
        expected="at most 0.5",
        after=3,
        advice=fix_config(
            "raise the context length, or cut the tools' output shorter",
            Change("agent.observation_max_chars", times=0.5),
        ),
    ),
    Condition(
        key="AGT019.loops",
        fault=above(0.3, "rollout_metrics/stuck_in_a_loop_ratio"),
        expected="at most 0.3",
        after=3,
    ),
    Condition(
        key="AGT019.clipped",
        fault=above(0.5, "response_length/clip_ratio"),
        expected="at most 0.5: cut responses earn no reward",
        after=5,
        advice=fix_config("raise the longest response, and the context with it"),
    ),
)
