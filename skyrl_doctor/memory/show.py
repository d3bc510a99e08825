"""A budget for a person and for a program."""

from collections.abc import Iterator
from typing import Any

from skyrl_doctor.facts.gpu.budget import GpuBudget, in_gib
from skyrl_doctor.memory.bars import bars
from skyrl_doctor.memory.findings import best_changes
from skyrl_doctor.memory.job import own_settings
from skyrl_doctor.plan.model import Plan
from skyrl_train.memory import Change, Component, PhaseBudget, Solution, gib

MILLION = 10**6


def text(plan: Plan, memory: GpuBudget, solution: Solution | None) -> Iterator[str]:
    """What a run takes of its GPU, phase by phase, and what would help."""
    budget = memory.budget
    yield f"model:   {memory.model} ({memory.shape_from})"
    yield f"device:  {memory.where}{'' if memory.free is None else ', as its driver says now'}"
    yield ""
    yield from _table(budget.phases)
    yield ""
    yield from bars(memory)
    yield ""
    yield from _verdict(memory)
    yield from _beyond_memory(memory)
    changes = best_changes(memory)
    if changes:
        yield ""
        yield "what would help most:"
        yield from (f"  {line}" for change in changes for line in _change(plan, change, fits_now=budget.fits))
    if solution is not None:
        yield ""
        yield _solution(memory, solution)


def data(plan: Plan, memory: GpuBudget, solution: Solution | None) -> dict[str, Any]:
    """The same as JSON types, schema 1."""
    told: dict[str, Any] = memory.budget.as_json()
    told["model"] = {"name": memory.model, "shape_from": memory.shape_from}
    told["problems"] = list(memory.budget.problems)
    told["changes"] = [
        {
            "summary": change.summary,
            "settings": own_settings(plan, dict(change.settings)),
            "gain_gib": round(gib(change.gain), 3),
            "fits": change.budget.fits,
        }
        for change in best_changes(memory)
    ]
    if solution is not None:
        told["solve"] = {"key": solution.key, "value": solution.value, "limited_by": solution.limited}
    return told


def _table(phases: tuple[PhaseBudget, ...]) -> Iterator[str]:
    """A row for each component that any phase has, a column for each phase."""
    names = [str(phase.phase) for phase in phases]
    widths = [max(len(name), 7) for name in names]
    rows = [part for part in Component if any(part in phase.components for phase in phases)]
    first = max(len(str(part)) for part in (*rows, "GiB at its fullest"))
    yield f"{'GiB at its fullest':<{first}}  {'  '.join(f'{name:>{width}}' for name, width in zip(names, widths, strict=True))}"
    for part in rows:
        yield _row(str(part), first, widths, [phase.components.get(part, 0) for phase in phases])
    yield _row("total", first, widths, [phase.total for phase in phases])


def _row(name: str, first: int, widths: list[int], sizes: list[int]) -> str:
    cells = [f"{gib(size):.2f}" if size else "-" for size in sizes]
    return f"{name:<{first}}  {'  '.join(f'{cell:>{width}}' for cell, width in zip(cells, widths, strict=True))}"


def _verdict(memory: GpuBudget) -> Iterator[str]:
    budget = memory.budget
    low, high = budget.band
    yield f"peak:    {in_gib(budget.peak.total)} in {budget.peak.phase} ({in_gib(low)} to {in_gib(high)})"
    room = memory.limit - budget.peak.total
    if budget.problems:
        yield "fits:    no"
        yield from (f"         {problem}" for problem in budget.problems)
    elif room < 0:
        yield f"fits:    no, {in_gib(-room)} are missing"
    else:
        yield f"fits:    yes, with {in_gib(room)} to spare{', less than the estimate is sure of' if high > memory.limit else ''}"


def _beyond_memory(memory: GpuBudget) -> Iterator[str]:
    """What stops the run though its memory may fit."""
    positions, longest = memory.shape.max_positions, memory.job.longest
    if positions is not None and longest > positions:
        yield f"note:    {longest} tokens of prompt and response, and the model has positions for {positions} (CFG005)"


def _change(plan: Plan, change: Change, *, fits_now: bool) -> Iterator[str]:
    outcome = ", and it fits" if change.budget.fits and not fits_now else ""
    yield f"- {change.summary}: {in_gib(change.gain)} less{outcome}"
    yield from (f"    {key} = {value}" for key, value in own_settings(plan, dict(change.settings)).items())


def _solution(memory: GpuBudget, solution: Solution) -> str:
    if solution.value is None:
        peak = solution.budget.peak
        return f"solve:   no {solution.key} fits; at the smallest the peak is {in_gib(peak.total)} in {peak.phase}"
    limit = f"; no larger one was tried ({solution.limited})" if solution.limited else ""
    return f"solve:   {solution.key} = {solution.value} is the largest that fits{limit}{_context_for(memory, solution)}"


def _context_for(memory: GpuBudget, solution: Solution) -> str:
    """A longer response needs a longer context, which is another key."""
    rollout = memory.job.rollout
    if solution.key != "response_length" or not isinstance(solution.value, int) or rollout is None:
        return ""
    longest = memory.job.prompt_length + solution.value
    return f"; max_model_len must then be {longest}" if longest > (rollout.max_model_len or longest) else ""
