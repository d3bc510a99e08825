"""What tests of the watch share: timelines of observations, played to rules."""

from collections.abc import Iterable

from skyrl_doctor.watch.finding import Cleared, Raised, Said
from skyrl_doctor.watch.observations import Observation, Step, Tick
from skyrl_doctor.watch.rules.base import Rule


def play(rule: Rule, timeline: Iterable[Observation]) -> list[Said]:
    """All that a rule says of a timeline."""
    state, said = rule.state(), []
    for seen in timeline:
        state, more = rule.judge(state, seen)
        said += more
    return said


def brief(said: Iterable[Said]) -> list[tuple[float, str]]:
    """When, and which key; what is over has a minus before it."""
    return [(one.at, one.key if isinstance(one, Raised) else f"-{one.key}") for one in said]


def texts(said: Iterable[Said]) -> list[str]:
    return [one.finding.message for one in said if isinstance(one, Raised)]


def ticks(start: float, end: float, every: float = 10.0) -> list[Tick]:
    return [Tick(at=start + every * n) for n in range(1, int((end - start) / every) + 1)]


def steps(*metrics: dict[str, float], every: float = 30.0) -> list[Step]:
    """One step after the other, with these figures."""
    return [Step(at=every * n, step=n, metrics=one) for n, one in enumerate(metrics, 1)]


__all__ = ["Cleared", "brief", "play", "steps", "texts", "ticks"]
