"""Outages of the sandbox infrastructure that a run survived. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skyrl_train.contracts.amount import amount

MOST_CAUSES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """`began_at` is Unix time. `seconds` passed until the runtime could be used again. `why` is what failed."""

    began_at: float
    seconds: float
    why: str


def merged(outages: Iterable[Outage]) -> tuple[Outage, ...]:
    """Processes that run rollouts report the same outage: those that overlap are one, with the reason of the first."""
    found: list[Outage] = []
    for one in sorted(outages, key=lambda outage: (outage.began_at, -outage.seconds)):
        if not found or one.began_at > found[-1].began_at + found[-1].seconds:
            found.append(one)
            continue
        last = found[-1]
        end = max(last.began_at + last.seconds, one.began_at + one.seconds)
        found[-1] = Outage(began_at=last.began_at, seconds=end - last.began_at, why=last.why)
    return tuple(found)


def described(outages: int, seconds: float, causes: Mapping[str, int]) -> str:
    """`2 outages survived, 95 s without new rollouts: 2 x error_runtime: connection refused`; empty without an outage."""
    if not outages:
        return ""
    first = sorted(causes.items(), key=lambda cause: (-cause[1], cause[0]))[:MOST_CAUSES]
    whys = "; ".join(f"{times} x {why}" for why, times in first)
    return f"{amount(outages, 'outage')} survived, {seconds:.0f} s without new rollouts: {whys}"
