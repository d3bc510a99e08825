"""AGT019: the reward was there and is gone. Single steps jump; windows of five do not."""

from dataclasses import replace

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Cleared, Said, raised
from skyrl_doctor.watch.observations import Observation, Step
from skyrl_doctor.watch.rules.base import Rule, fix_config
from skyrl_doctor.watch.rules.conditions import first

WINDOW = 5
LEAST_BEST, LOST, BACK = 0.05, 0.5, 0.75
KEY = "AGT019.collapse"


@record
class State:
    step: int | None = None
    last: tuple[float, ...] = ()
    best: float | None = None
    best_step: int = 0
    said: bool = False


def judge(state: State, seen: Observation) -> tuple[State, tuple[Said, ...]]:
    if not isinstance(seen, Step) or seen.step == state.step:
        return state, ()
    reward = first(seen.metrics, "critic/score/mean", "critic/rewards/mean", "rollout_metrics/raw_reward")
    if reward is None or reward != reward:
        return replace(state, step=seen.step), ()
    last = (*state.last, reward)[-WINDOW:]
    state = replace(state, step=seen.step, last=last)
    if len(last) < WINDOW:
        return state, ()
    mean = sum(last) / WINDOW
    if state.best is None or mean > state.best:
        state = replace(state, best=mean, best_step=seen.step)
    return _judged(state, seen, mean, state.best if state.best is not None else mean)


def _judged(state: State, seen: Step, mean: float, best: float) -> tuple[State, tuple[Said, ...]]:
    if not state.said and best >= LEAST_BEST and mean < LOST * best:
        message = (
            f"the mean reward of {WINDOW} steps fell from {best:.3g} (until step {state.best_step}) to {mean:.3g}; "
            f"wanted at least half of what it was"
        )
        remedy = fix_config(
            f"go back to the checkpoint before step {state.best_step}; lower the learning rate or raise the KL loss"
        )
        finding = raised(seen.at, "AGT019", message, key=KEY, severity=Severity.WARNING, remedy=remedy)
        return replace(state, said=True), (finding,)
    if state.said and mean >= BACK * best:
        return replace(state, said=False), (Cleared(at=seen.at, key=KEY),)
    return state, ()


RULE = Rule("collapse", State, judge)
