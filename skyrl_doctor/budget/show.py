"""Shows a memory budget as text and as JSON."""

import textwrap
from collections.abc import Iterator
from typing import Any

from skyrl_doctor.budget.bars import draw_bars
from skyrl_doctor.budget.findings import best_changes
from skyrl_doctor.budget.job import own_settings
from skyrl_doctor.facts.gpu.budget import GpuBudget, in_gib
from skyrl_doctor.plan.model import Plan
from skyrl_train.memory import Change, Component, PhaseBudget, Solution, gib

HEAD = "peak in GiB"
COLUMN = 6
"""Least width of the column of a phase."""


def budget_lines(plan: Plan, memory: GpuBudget, solution: Solution | None) -> Iterator[str]:
    """The lines of the screen: memory by phase, whether it fits, which changes help."""
    budget = memory.budget
    yield f"model:   {memory.model} ({memory.shape_from})"
    yield f"device:  {memory.where}{'' if memory.free is None else ' (reported by the driver)'}"
    yield ""
    yield from _table(budget.phases)
    yield ""
    yield from draw_bars(memory)
    yield ""
    yield from _verdict(memory)
    yield from _beyond_memory(memory)
    changes = best_changes(memory)
    if changes:
        yield ""
        yield "changes that help most:"
        yield from (f"  {line}" for change in changes for line in _change(plan, change, fits_now=budget.fits))
    if solution is not None:
        yield ""
        yield _solution(memory, solution)


def budget_data(plan: Plan, memory: GpuBudget, solution: Solution | None) -> dict[str, Any]:
    """The same as JSON types, schema 1."""
    result: dict[str, Any] = memory.budget.as_json()
    result["model"] = {"name": memory.model, "shape_from": memory.shape_from}
    result["problems"] = list(memory.budget.problems)
    result["changes"] = [
        {
            "summary": change.summary,
            "settings": own_settings(plan, dict(change.settings)),
            "gain_gib": round(gib(change.gain), 3),
            "fits": change.budget.fits,
        }
        for change in best_changes(memory)
    ]
    if solution is not None:
        result["solve"] = {"key": solution.key, "value": solution.value, "limited_by": solution.limited}
    return result


def _table(phases: tuple[PhaseBudget, ...]) -> Iterator[str]:
    """A row for each component that any phase has, a column for each phase."""
    names = [
        textwrap.wrap(str(phase.phase), COLUMN, break_long_words=False, break_on_hyphens=False) for phase in phases
    ]
    widths = [max(COLUMN, *map(len, words)) for words in names]
    rows = [part for part in Component if any(part in phase.components for phase in phases)]
    height = max(map(len, names))
    columns = [[""] * (height - len(words)) + words for words in names]
    first = max(len(str(part)) for part in (*rows, HEAD))
    for number, cells in enumerate(zip(*columns, strict=True), start=1):
        head = HEAD if number == height else ""
        row = f"{head:<{first}} {' '.join(f'{cell:>{width}}' for cell, width in zip(cells, widths, strict=True))}"
        yield row.rstrip()
    for part in rows:
        yield _row(str(part), first, widths, [phase.components.get(part, 0) for phase in phases])
    yield _row("total", first, widths, [phase.total for phase in phases])


def _row(name: str, first: int, widths: list[int], sizes: list[int]) -> str:
    cells = [f"{gib(size):.2f}" if size else "-" for size in sizes]
    return f"{name:<{first}} {' '.join(f'{cell:>{width}}' for cell, width in zip(cells, widths, strict=True))}"


def _verdict(memory: GpuBudget) -> Iterator[str]:
    budget = memory.budget
    low, high = budget.band
    yield f"peak:    {in_gib(budget.peak.total)} in {budget.peak.phase} (range {gib(low):.1f} to {in_gib(high)})"
    room = memory.limit - budget.peak.total
    if budget.problems:
        yield "fits:    no"
        yield from (f"         {problem}" for problem in budget.problems)
    elif room < 0:
        yield f"fits:    no, {in_gib(-room)} too much"
    else:
        unsure = ", but the upper end of the range does not fit" if high > memory.limit else ""
        yield f"fits:    yes, with {in_gib(room)} to spare{unsure}"


def _beyond_memory(memory: GpuBudget) -> Iterator[str]:
    """A note on what stops the run although its memory fits."""
    positions, longest = memory.shape.max_positions, memory.job.longest
    if positions is not None and longest > positions:
        yield f"note:    prompt + response = {longest} tokens, but the model has only {positions} positions (CFG005)"


def _change(plan: Plan, change: Change, *, fits_now: bool) -> Iterator[str]:
    outcome = ", then it fits" if change.budget.fits and not fits_now else ""
    yield f"- {change.summary}: saves {in_gib(change.gain)}{outcome}"
    yield from (f"    {key} = {value}" for key, value in own_settings(plan, dict(change.settings)).items())


def _solution(memory: GpuBudget, solution: Solution) -> str:
    if solution.value is None:
        peak = solution.budget.peak
        return f"solve:   no value of {solution.key} fits; with the smallest the peak is {in_gib(peak.total)} in {peak.phase}"
    limit = f" ({solution.limited})" if solution.limited else ""
    return f"solve:   {solution.key} = {solution.value} is the largest value that fits{limit}{_context_for(memory, solution)}"


def _context_for(memory: GpuBudget, solution: Solution) -> str:
    """The context that the solved response length needs, if max_model_len is smaller."""
    rollout = memory.job.rollout
    if solution.key != "response_length" or not isinstance(solution.value, int) or rollout is None:
        return ""
    longest = memory.job.prompt_length + solution.value
    return f"; set max_model_len to {longest} too" if longest > (rollout.max_model_len or longest) else ""
