"""AGT019, AGT021: the reward collapsed or does not move, the entropy collapsed. Single steps jump; the mean of five
does not.
"""

from collections.abc import Mapping
from dataclasses import field, replace

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.figures import ENTROPY, REWARD, Figure
from skyrl_doctor.watch.finding import Change, Cleared, Update, alert
from skyrl_doctor.watch.observations import Observation, Step
from skyrl_doctor.watch.rules.base import Rule, fix_config

WINDOW, STUCK = 5, 20
LEAST_BEST, LOST, BACK = 0.05, 0.5, 0.75
LEAST_ENTROPY, LOST_ENTROPY = 0.05, 0.1
COLLAPSE, FLAT, SHARP = "AGT019.collapse", "AGT021.stuck", "AGT019.entropy"
_FIGURES: Mapping[str, Figure] = {COLLAPSE: REWARD, FLAT: REWARD, SHARP: ENTROPY}


@record
class Trend:
    """The last values of a figure; the best mean of five, and its step."""

    step: int | None = None
    last: tuple[float, ...] = ()
    best: float | None = None
    best_step: int = 0
    reported: bool = False


@record
class TrendsState:
    """`trends` has each trend's fields, in their order."""

    trends: Mapping[str, tuple[int | None, tuple[float, ...], float | None, int, bool]] = field(default_factory=dict)


def judge(state: TrendsState, observation: Observation) -> tuple[TrendsState, tuple[Update, ...]]:
    if not isinstance(observation, Step):
        return state, ()
    trends, updates = dict(state.trends), list[Update]()
    for key, figure in _FIGURES.items():
        name = figure.name(observation.metrics)
        before = Trend(*trends[key]) if key in trends else Trend()
        if name is None or before.step == observation.step:
            continue
        value = observation.metrics[name]
        now = replace(before, step=observation.step)
        if value == value:
            now = _followed(now, value, observation.step)
            fault = _FAULTS[key](now, name)
            now = replace(now, reported=bool(fault) if fault is not None else before.reported)
            if fault and not before.reported:
                updates.append(_alert(key, observation, now, fault))
            elif before.reported and not now.reported:
                updates.append(Cleared(at=observation.at, key=key))
        trends[key] = (now.step, now.last, now.best, now.best_step, now.reported)
    return TrendsState(trends), tuple(updates)


def _followed(trend: Trend, value: float, step: int) -> Trend:
    trend = replace(trend, last=(*trend.last, value)[-STUCK:])
    mean = _mean(trend)
    if mean is None or (trend.best is not None and mean <= trend.best):
        return trend
    return replace(trend, best=mean, best_step=step)


def _mean(trend: Trend) -> float | None:
    last = trend.last[-WINDOW:]
    return sum(last) / WINDOW if len(last) == WINDOW else None


def _collapsed(trend: Trend, _name: str) -> str | None:
    """The fault; "" where the reward is back; None in between."""
    mean, best = _mean(trend), trend.best
    if mean is None or best is None:
        return None
    if best >= LEAST_BEST and mean < LOST * best:
        return (
            f"the mean reward of {WINDOW} steps fell from {best:.3g} (steps up to {trend.best_step}) to {mean:.3g}; "
            "expected at least half of the best"
        )
    return "" if mean >= BACK * best else None


def _stuck(trend: Trend, name: str) -> str | None:
    if len(set(trend.last)) > 1:
        return ""
    if len(trend.last) < STUCK:
        return None
    return f"{name} is {trend.last[-1]:g} in each of the last {STUCK} steps; expected it to move"


def _sharp(trend: Trend, name: str) -> str | None:
    mean, best = _mean(trend), trend.best
    if mean is None or best is None:
        return None
    if mean < LEAST_ENTROPY and mean < LOST_ENTROPY * best:
        return (
            f"{name} fell from {best:.3g} (steps up to {trend.best_step}) to {mean:.3g}; expected at least "
            f"{LOST_ENTROPY:.0%} of it: the policy repeats itself"
        )
    return "" if mean >= 2 * LOST_ENTROPY * best else None


_FAULTS = {COLLAPSE: _collapsed, FLAT: _stuck, SHARP: _sharp}


def _alert(key: str, observation: Step, trend: Trend, fault: str) -> Update:
    lower = Change("actor.lr", times=1 / 3)
    advice = {
        COLLAPSE: fix_config(
            f"resume from the checkpoint before step {trend.best_step} with a lower learning rate or a higher KL loss",
            lower,
        ),
        FLAT: fix_config("score a solved and an unsolved task by hand: the gold patch must get 1, no patch 0"),
        SHARP: fix_config("resume from an earlier checkpoint with a lower learning rate or a higher upper clip", lower),
    }[key]
    id_ = key.partition(".")[0]
    return alert(observation.at, id_, fault, key=key, severity=Severity.WARNING, advice=advice, step=observation.step)


RULE = Rule("trends", TrendsState, judge)
