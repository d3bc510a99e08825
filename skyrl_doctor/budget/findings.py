"""Shared by the MEM checks: turns a phase that does not fit into a finding with the changes that help most."""

from typing import TYPE_CHECKING

from skyrl_doctor.core.model import Finding, Location, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.gpu.budget import GpuBudget, in_gib
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan

if TYPE_CHECKING:
    from skyrl_train.memory import Change, PhaseBudget

ALL_CHANGES, SHOWN_CHANGES = 20, 3


@record
class Advice:
    """Changes, best first, and the positions of those that are enough only together."""

    changes: "tuple[Change, ...]"
    together: tuple[int, ...] = ()


def memory_finding(
    memory: GpuBudget, plan: Plan, key: str, message: str, summary: str, *, severity: Severity = Severity.ERROR
) -> Finding:
    """A finding at the line of `key`. The evidence lists changes and their savings; the settings are those of the best."""
    from skyrl_doctor.budget.job import own_settings  # imported late: loads the memory model

    changes = best_advice(memory, plan).changes
    settings = own_settings(plan, dict(changes[0].settings)) if changes else {}
    evidence = tuple(f"{change.summary} (saves {in_gib(change.gain)})" for change in changes)
    place: Location | None = plan.place(key)
    return config_finding(message, place, settings, summary=summary, severity=severity, evidence=evidence)


def fit_severity(memory: GpuBudget, phase: "PhaseBudget") -> Severity | None:
    """ERROR if the phase does not fit, WARNING if it does not only in the worst case or at the upper end of its range, else
    None. A kind of run that was never measured gives an ERROR only if the lower end of its range does not fit either."""
    if phase.total > memory.limit:
        likely = next((one for one in memory.likely.phases if one.phase is phase.phase), phase)
        least = likely.total if memory.budget.is_measured else likely.total * (1 - memory.budget.spread)
        return Severity.ERROR if least > memory.limit else Severity.WARNING
    peak, most = memory.budget.peak.total, memory.budget.band[1]
    return Severity.WARNING if phase.total * most / peak > memory.limit else None


def fullest_phase(memory: GpuBudget, *names: str) -> "PhaseBudget":
    """The phase with the largest total among these."""
    found = [phase for phase in memory.budget.phases if phase.phase.name in names]
    return max(found, key=lambda phase: phase.total)


def largest_components(phase: "PhaseBudget", count: int = 4) -> str:
    """The largest components of a phase with their sizes, for a message."""
    parts = sorted(phase.components.items(), key=lambda part: -part[1])[:count]
    return ", ".join(f"{component} {in_gib(size)}" for component, size in parts)


def best_advice(memory: GpuBudget, plan: Plan) -> Advice:
    """The changes that help most, of those that this program has a setting for, and which of them are enough together."""
    from skyrl_doctor.budget.job import own_settings
    from skyrl_train.memory import changes
    from skyrl_train.memory.together import fit_together

    device = memory.budget.device
    every = changes(memory.shape, memory.job, device, ALL_CHANGES, free=memory.free)
    own = [change for change in every if own_settings(plan, dict(change.settings))]
    together = fit_together(memory.shape, memory.job, device, own, free=memory.free)
    others = [change for change in own if change not in together][: SHOWN_CHANGES - len(together)]
    shown = tuple(change for change in own if change in together or change in others)
    return Advice(shown, tuple(number for number, change in enumerate(shown) if change in together))
