"""What the checks MEM share: a phase that does not fit becomes a finding with the changes that would help most."""

from typing import TYPE_CHECKING

from skyrl_doctor.core.model import Finding, Location, Severity
from skyrl_doctor.facts.gpu.budget import GpuBudget, in_gib
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.verdicts import fault

if TYPE_CHECKING:
    from skyrl_train.memory import Change, PhaseBudget


def too_much(
    memory: GpuBudget, plan: Plan, key: str, message: str, summary: str, *, severity: Severity = Severity.ERROR
) -> Finding:
    """A finding at the line of `key`; its evidence says what each change would gain, its settings are the best one's."""
    from skyrl_doctor.memory.job import own_settings  # the memory model is loaded when a plan asks for it

    changes = best_changes(memory)
    settings = own_settings(plan, dict(changes[0].settings)) if changes else {}
    evidence = tuple(f"{change.summary}: {in_gib(change.gain)} less" for change in changes)
    place: Location | None = plan.place(key)
    return fault(message, place, settings, summary=summary, severity=severity, evidence=evidence)


def fullness(memory: GpuBudget, phase: "PhaseBudget") -> Severity | None:
    """Whether a phase fits: an error where it does not, a warning where only the upper end of its band does not."""
    if phase.total > memory.limit:
        return Severity.ERROR
    peak, most = memory.budget.peak.total, memory.budget.band[1]
    return Severity.WARNING if phase.total * most / peak > memory.limit else None


def phase_of(memory: GpuBudget, *names: str) -> "PhaseBudget":
    """The fullest of these phases."""
    found = [phase for phase in memory.budget.phases if phase.phase.name in names]
    return max(found, key=lambda phase: phase.total)


def largest(phase: "PhaseBudget", count: int = 4) -> str:
    """The largest parts of a phase, for a message."""
    parts = sorted(phase.components.items(), key=lambda part: -part[1])[:count]
    return ", ".join(f"{component} {in_gib(size)}" for component, size in parts)


def best_changes(memory: GpuBudget) -> "tuple[Change, ...]":
    from skyrl_train.memory import changes

    return changes(memory.shape, memory.job, memory.budget.device)
