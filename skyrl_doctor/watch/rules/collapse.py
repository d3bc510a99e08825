"""AGT019: the reward collapsed. Single steps jump; the mean of five does not."""

from dataclasses import replace

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Change, Cleared, Update, alert
from skyrl_doctor.watch.observations import Observation, Step
from skyrl_doctor.watch.rules.base import Rule, fix_config
from skyrl_doctor.watch.rules.conditions import first

WINDOW = 5
LEAST_BEST, LOST, BACK = 0.05, 0.5, 0.75
KEY = "AGT019.collapse"


@record
class CollapseState:
    step: int | None = None
    last: tuple[float, ...] = ()
    best: float | None = None
    best_step: int = 0
    reported: bool = False


def judge(state: CollapseState, observation: Observation) -> tuple[CollapseState, tuple[Update, ...]]:
    if not isinstance(observation, Step) or observation.step == state.step:
        return state, ()
    reward = first(observation.metrics, "critic/score/mean", "critic/rewards/mean", "rollout_metrics/raw_reward")
    if reward is None or reward != reward:
        return replace(state, step=observation.step), ()
    last = (*state.last, reward)[-WINDOW:]
    state = replace(state, step=observation.step, last=last)
    if len(last) < WINDOW:
        return state, ()
    mean = sum(last) / WINDOW
    if state.best is None or mean > state.best:
        state = replace(state, best=mean, best_step=observation.step)
    return _judged(state, observation, mean, state.best if state.best is not None else mean)


def _judged(
    state: CollapseState, observation: Step, mean: float, best: float
) -> tuple[CollapseState, tuple[Update, ...]]:
    if not state.reported and best >= LEAST_BEST and mean < LOST * best:
        message = (
            f"the mean reward of {WINDOW} steps fell from {best:.3g} (steps up to {state.best_step}) to {mean:.3g}; "
            "expected at least half of the best"
        )
        advice = fix_config(
            f"resume from the checkpoint before step {state.best_step} with a lower learning rate or a higher KL loss",
            Change("actor.lr", times=1 / 3),
        )
        finding = alert(observation.at, "AGT019", message, key=KEY, severity=Severity.WARNING, advice=advice)
        return replace(state, reported=True), (finding,)
    if state.reported and mean >= BACK * best:
        return replace(state, reported=False), (Cleared(at=observation.at, key=KEY),)
    return state, ()


RULE = Rule("collapse", CollapseState, judge)
