"""pass@1 and pass@k of an evaluation, with 95 % intervals, in sum and for each repository. Pure.

pass@k is the unbiased estimate of Chen et al. 2021 (arXiv 2107.03374, section 2.1): for a task with c of n rollouts solved,
1 - C(n - c, k) / C(n, k), averaged over the tasks.

Rollouts of one task are not independent, so both intervals count tasks and not rollouts:

- wilson: the score interval (Wilson 1927; Brown, Cai and DasGupta 2001) with the tasks as its trials. With one rollout a task
  it is the usual one. With more it is too wide rather than too narrow: a figure between 0 and 1 varies less than a coin. It
  also holds where none or all tasks are solved.
- bootstrap: the percentiles of the average over tasks that are drawn again (Efron 1979). Narrower, but of no use where all
  tasks agree.
"""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Z = 1.959963984540054
"""The normal quantile of 97.5 %."""
DRAWS = 2000
SEED = 0
"""Of the bootstrap: equal rollouts give an equal report."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The end of one rollout. `solved` is None if infrastructure failed, which says nothing about the model."""

    task: str
    repository: str
    solved: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """pass@k. `tasks` have at least k results."""

    k: int
    rate: float
    wilson: Interval
    bootstrap: Interval
    tasks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRates:
    """The rates of some tasks. `without_result`: rollouts that infrastructure failed."""

    rates: tuple[Rate, ...]
    tasks: int
    rollouts: int
    without_result: int


def pass_at(k: int, *, solved: int, of: int) -> float:
    """The chance that at least one of k rollouts solves a task, from `of` rollouts of which some solved it."""
    if not 1 <= k <= of:
        raise ValueError(f"pass@{k} of {of} rollouts")
    return 1.0 - math.comb(of - solved, k) / math.comb(of, k)


def wilson(rate: float, trials: int) -> Interval:
    """The score interval; it has no closed end outside of 0 to 1."""
    square = Z * Z / trials
    middle = (rate + square / 2) / (1 + square)
    half = Z / (1 + square) * math.sqrt(rate * (1 - rate) / trials + square / (4 * trials))
    return max(0.0, middle - half), min(1.0, middle + half)


def bootstrap(values: Sequence[float], *, draws: int = DRAWS, seed: int = SEED) -> Interval:
    draw = random.Random(seed)  # noqa: S311 -- statistics, not secrets
    means = sorted(math.fsum(draw.choices(values, k=len(values))) / len(values) for _ in range(draws))
    return means[round(0.025 * (draws - 1))], means[round(0.975 * (draws - 1))]


def pass_rates(outcomes: Iterable[Outcome], ks: Iterable[int]) -> PassRates:
    """Tasks with fewer than k results are left out of pass@k."""
    listed = list(outcomes)
    results: dict[str, list[bool]] = {}
    for one in listed:
        results.setdefault(one.task, []).extend([] if one.solved is None else [one.solved])
    return PassRates(
        rates=tuple(rate for k in sorted({*ks}) if (rate := _rate(results, k)) is not None),
        tasks=len(results),
        rollouts=len(listed),
        without_result=sum(one.solved is None for one in listed),
    )


def by_repository(outcomes: Iterable[Outcome], ks: Sequence[int]) -> dict[str, PassRates]:
    groups: dict[str, list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(one.repository, []).append(one)
    return {name: pass_rates(groups[name], ks) for name in sorted(groups)}


def _rate(results: Mapping[str, Sequence[bool]], k: int) -> Rate | None:
    values = [pass_at(k, solved=sum(found), of=len(found)) for found in results.values() if len(found) >= k]
    if not values:
        return None
    rate = math.fsum(values) / len(values)
    return Rate(k=k, rate=rate, wilson=wilson(rate, len(values)), bootstrap=bootstrap(values), tasks=len(values))


def described(rates: PassRates) -> str:
    """`pass@1 0.420 (0.331 to 0.514)` for each k."""
    return ", ".join(f"pass@{one.k} {one.rate:.3f} ({one.wilson[0]:.3f} to {one.wilson[1]:.3f})" for one in rates.rates)


def as_json(rates: PassRates) -> dict[str, object]:
    return {
        "tasks": rates.tasks,
        "rollouts": rates.rollouts,
        "without_result": rates.without_result,
        "pass": {
            str(one.k): {
                "rate": one.rate,
                "wilson_95": [*one.wilson],
                "bootstrap_95": [*one.bootstrap],
                "tasks": one.tasks,
            }
            for one in rates.rates
        },
    }
