"""What to change where a run does not fit: settings, alone or together, and the number of GPUs."""

from collections.abc import Iterator

from skyrl_doctor.budget.findings import Advice, best_advice
from skyrl_doctor.budget.job import own_settings
from skyrl_doctor.facts.gpu.budget import GpuBudget, in_gib
from skyrl_doctor.plan.model import Plan
from skyrl_train.memory import Change, Needed, needed_gpus
from skyrl_train.memory.more_gpus import MOST_GPUS

POSITIONS = ("first", "second", "third")


def useful_advice(memory: GpuBudget, plan: Plan) -> Advice:
    """The changes that help most; none for a run that fits even at the upper end of its range."""
    now = memory.budget
    return Advice(()) if not now.problems and now.band[1] <= memory.limit else best_advice(memory, plan)


def needed_by(memory: GpuBudget) -> Needed | None:
    """The GPUs with which the run fits, if it cannot start as it is."""
    if not memory.likely.problems:
        return None
    return needed_gpus(memory.shape, memory.job, memory.budget.device, free=memory.free)


def gpus_lines(plan: Plan, memory: GpuBudget) -> Iterator[str]:
    """The GPUs that are enough, in the framework's own key, or that slices are not joined."""
    if memory.budget.device.is_slice and (memory.likely.problems or memory.job.n_gpus > 1):
        yield "note:    MIG slices cannot be joined (GPU002): use one slice that is large enough, or whole GPUs"
    needed = needed_by(memory)
    if needed is None:
        return
    if needed.gpus is None:
        yield f"enough:  no number of GPUs up to {MOST_GPUS}, with the other settings as they are"
        return
    parts = [f"{needed.gpus} GPUs"] if needed.gpus != memory.job.n_gpus else []
    if memory.job.rollout is None or needed.tensor_parallel != memory.job.rollout.tensor_parallel:
        parts.append(f"{plan.name('rollout.tensor_parallel_size')} = {needed.tensor_parallel}")
    yield f"enough:  {' and '.join(parts)}, with the other settings as they are"


def advice_lines(plan: Plan, memory: GpuBudget) -> Iterator[str]:
    """The changes that help most, and whether one of them, or several together, are enough."""
    advice = useful_advice(memory, plan)
    if not advice.changes:
        return
    yield ""
    yield f"changes that help most{_outcome(memory, advice)}:"
    yield from (f"  {line}" for change in advice.changes for line in _change(plan, memory, change))


def _outcome(memory: GpuBudget, advice: Advice) -> str:
    if memory.likely.fits or any(change.budget.fits for change in advice.changes):
        return ""
    if not advice.together:
        return ", but none of them is enough"
    if len(advice.together) == len(advice.changes):
        return f"; no single one is enough, but {'both' if len(advice.together) == 2 else 'all three'} together fit"
    names = " and the ".join(POSITIONS[position] for position in advice.together)
    return f"; no single one is enough, but the {names} together fit"


def _change(plan: Plan, memory: GpuBudget, change: Change) -> Iterator[str]:
    outcome = ", then it fits" if change.budget.fits and not memory.budget.fits else ""
    yield f"- {change.summary}: saves {in_gib(change.gain)}{outcome}"
    yield from (f"    {key} = {value}" for key, value in own_settings(plan, dict(change.settings)).items())
