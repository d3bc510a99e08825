"""Shows a memory budget as text and as JSON."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from skyrl_doctor.budget.advice import advice_lines, gpus_lines, needed_by, useful_advice
from skyrl_doctor.budget.bars import SCREEN, draw_bars
from skyrl_doctor.budget.beside import beside_lines
from skyrl_doctor.budget.job import own_settings
from skyrl_doctor.budget.question import PRIME_RL
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.gpu.budget import GpuBudget, in_gib
from skyrl_doctor.plan.model import Plan
from skyrl_train.memory import Budget, Component, PhaseBudget, Solution, StepTime, gib
from skyrl_train.memory.solve import CONTEXT_UNKNOWN, EVERY

HEAD = "peak in GiB"
COLUMN = 6
"""Least width of the column of a phase."""
SETTING = re.compile(r" +[\w.+]+ = \S+")
"""A line to paste, which stays whole."""


@record
class Solved:
    """The largest value that fits in the worst case, and with the expected lengths if they are known."""

    worst: Solution
    expected: Solution | None


def budget_lines(
    plan: Plan,
    memory: GpuBudget,
    solved: Solved | None,
    *,
    verbose: bool = False,
    screen: int = SCREEN,
    other_gpus: int | None = None,
) -> Iterator[str]:
    """The lines of the screen: memory by phase, whether it fits, which changes help. `verbose` adds the components.

    `other_gpus` is the number of GPUs in the configuration, where the user asked for another number.
    """
    for line in _lines(plan, memory, solved, verbose=verbose, screen=screen, other_gpus=other_gpus):
        yield from _wrapped(line, screen)


def _lines(
    plan: Plan, memory: GpuBudget, solved: Solved | None, *, verbose: bool, screen: int, other_gpus: int | None
) -> Iterator[str]:
    yield f"model:   {memory.model} ({memory.shape_from})"
    yield f"device:  {memory.where}{'' if memory.free is None else ' (reported by the driver)'}"
    if other_gpus is not None:
        yield f"gpus:    {memory.job.n_gpus} (--gpus; the configuration has {other_gpus})"
    if plan.release is not None:
        yield f"release: {plan.release.label}"
    yield ""
    if verbose:
        yield from _tables(memory.budget.phases, screen)
        yield ""
    yield from draw_bars(memory, screen)
    yield ""
    yield from _verdict(memory)
    yield from _beyond_memory(memory)
    yield from beside_lines(plan, memory)
    yield from gpus_lines(plan, memory)
    yield from advice_lines(plan, memory)
    if solved is not None:
        yield ""
        yield _solution(memory, solved.worst)
        if solved.expected is not None:
            yield f"{_solution(memory, solved.expected)}, with the expected lengths"


def _wrapped(line: str, screen: int) -> list[str]:
    """The line in parts of at most `screen` columns, the later ones under the first word of its value."""
    if len(line) <= screen or SETTING.fullmatch(line):
        return [line]
    own = len(line) - len(line.lstrip())
    indent = own or 9
    if line.lstrip().startswith("- "):
        indent = own + 2
    return textwrap.wrap(line, screen, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


def budget_data(plan: Plan, memory: GpuBudget, solved: Solved | None) -> dict[str, Any]:
    """The same as JSON types, schema 1."""
    result: dict[str, Any] = memory.budget.as_json()
    result["model"] = {"name": memory.model, "shape_from": memory.shape_from}
    result["problems"] = list(memory.budget.problems)
    likely = memory.likely
    result["expected"] = {
        "lengths": memory.lengths or None,
        "peak_gib": round(gib(likely.peak.total), 3),
        "phase": str(likely.peak.phase),
        "fits": likely.fits,
    }
    result["host"] = None if memory.host is None else {"gib_per_gpu": round(gib(memory.host.total), 3)}
    result["step_seconds"] = None if memory.seconds is None else _seconds(memory.seconds)
    advice = useful_advice(memory, plan)
    result["changes"] = [
        {
            "summary": change.summary,
            "settings": own_settings(plan, dict(change.settings)),
            "gain_gib": round(gib(change.gain), 3),
            "fits": change.budget.fits,
        }
        for change in advice.changes
    ]
    result["together"] = [advice.changes[position].summary for position in advice.together]
    if (needed := needed_by(memory)) is not None:
        result["needed"] = needed._asdict()
    if solved is not None:
        worst, expected = solved.worst, solved.expected
        result["solve"] = {"key": worst.key, "value": worst.value, "limited_by": worst.limited}
        if expected is not None:
            result["solve"]["expected_value"] = expected.value
    return result


def _seconds(seconds: StepTime) -> dict[str, float | bool]:
    parts = {"total": seconds.total, "rollout": seconds.rollout}
    parts |= {"log_prob": seconds.log_prob, "update": seconds.update, "weight_sync": seconds.weight_sync}
    return {**{name: round(value, 2) for name, value in parts.items()}, "measured": seconds.measured}


def _tables(phases: tuple[PhaseBudget, ...], screen: int) -> Iterator[str]:
    """The table in parts that fit the screen."""
    rows = [part for part in Component if any(part in phase.components for phase in phases)]
    first = max(len(str(part)) for part in (*rows, HEAD))
    part: list[PhaseBudget] = []
    for phase in phases:
        if part and first + sum(map(_width, [*part, phase])) > screen:
            yield from _table(part, rows, first)
            yield ""
            part = []
        part.append(phase)
    yield from _table(part, rows, first)


def _words(phase: PhaseBudget) -> list[str]:
    return textwrap.wrap(str(phase.phase), COLUMN, break_long_words=False, break_on_hyphens=False)


def _width(phase: PhaseBudget) -> int:
    """The width of a phase's column, with the space before it."""
    return 1 + max(COLUMN, *map(len, _words(phase)))


def _table(phases: Sequence[PhaseBudget], rows: Sequence[Component], first: int) -> Iterator[str]:
    """A row for each component, a column for each phase."""
    names = [_words(phase) for phase in phases]
    widths = [_width(phase) - 1 for phase in phases]
    height = max(map(len, names))
    columns = [[""] * (height - len(words)) + words for words in names]
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
    if memory.expected is None:
        yield from _fit(memory, memory.budget, "peak")
        return
    yield from _fit(memory, memory.budget, "worst")
    yield from _fit(memory, memory.expected, "likely")
    yield f"lengths: {memory.lengths}"


def _fit(memory: GpuBudget, budget: Budget, name: str) -> Iterator[str]:
    """The peak of one figure and whether it fits."""
    low, high = budget.band
    label = f"{name}:"
    yield f"{label:<8} {in_gib(budget.peak.total)} in {budget.peak.phase} (range {gib(low):.1f} to {in_gib(high)})"
    room = memory.limit - budget.peak.total
    if budget.problems:
        yield "fits:    no"
        yield from (f"         {problem}" for problem in budget.problems)
    elif room < 0:
        if low <= memory.limit:
            yield f"fits:    perhaps not: {in_gib(-room)} too much, within the {budget.spread:.0%} error of the estimate"
        else:
            yield f"fits:    no, {in_gib(-room)} too much"
    else:
        if high > memory.limit:
            error = in_gib(high - budget.peak.total)
            yield f"fits:    probably, with {in_gib(room)} to spare; the estimate may be off by {error}"
        else:
            yield f"fits:    yes, with {in_gib(room)} to spare"


def _beyond_memory(memory: GpuBudget) -> Iterator[str]:
    """A note on what stops the run although its memory fits."""
    positions, longest = memory.shape.max_positions, memory.job.longest
    if positions is not None and longest > positions:
        yield f"note:    prompt + response = {longest} tokens, but the model has only {positions} positions (CFG005)"


def _solution(memory: GpuBudget, solution: Solution) -> str:
    if solution.value is None:
        peak = solution.budget.peak
        return f"solve:   no value of {solution.key} fits; with the smallest the peak is {in_gib(peak.total)} in {peak.phase}"
    if solution.limited == EVERY:
        return f"solve:   every {solution.key} up to {solution.value} fits: {solution.key} is not what fills the memory"
    if solution.limited.endswith(CONTEXT_UNKNOWN):
        return f"solve:   the memory allows {solution.key} = {solution.value}; {solution.limited}{_context_for(memory, solution)}"
    limit = f" ({solution.limited})" if solution.limited else ""
    return f"solve:   {solution.key} = {solution.value} is the largest value that fits{limit}{_context_for(memory, solution)}"


def _context_for(memory: GpuBudget, solution: Solution) -> str:
    """The context that the solved response length needs, if max_model_len is smaller."""
    rollout = memory.job.rollout
    if solution.key != "response_length" or not isinstance(solution.value, int) or rollout is None:
        return ""
    job = memory.job
    longest = job.prompt_length + (job.response_length if job.framework == PRIME_RL else solution.value)
    return f"; set max_model_len to {longest} too" if longest > (rollout.max_model_len or longest) else ""
