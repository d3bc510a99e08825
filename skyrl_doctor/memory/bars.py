"""A stacked bar for each phase in plain text: a letter for each component, a mark where the device ends."""

from collections.abc import Iterator

from skyrl_doctor.facts.gpu.budget import GpuBudget
from skyrl_train.memory import Component, PhaseBudget

WIDTH = 60
"""Columns for the device, or for the fullest phase where that is more."""


def _letters() -> dict[Component, str]:
    """For each component the first letter of its name that is still free."""
    taken: dict[Component, str] = {}
    for part in Component:
        name = part.value.replace(" ", "")
        wanted = [*name.upper(), *name.lower()]
        taken[part] = next(letter for letter in (wanted[0], *wanted) if letter not in taken.values())
    return taken


LETTERS = _letters()


def bars(memory: GpuBudget) -> Iterator[str]:
    """One line a phase, and a last one that says what the letters are."""
    phases = memory.budget.phases
    scale = WIDTH / max(memory.limit, *(phase.total for phase in phases))
    end = round(memory.limit * scale)
    first = max(len(str(phase.phase)) for phase in phases)
    for phase in phases:
        yield f"{phase.phase!s:<{first}}  {_marked(_bar(phase, scale), end)}"
    used = [part for part in Component if any(part in phase.components for phase in phases)]
    yield f"{'':<{first}}  {', '.join(f'{LETTERS[part]} {part}' for part in used)}"


def _bar(phase: PhaseBudget, scale: float) -> str:
    """Each letter ends where the sum so far does, so that rounding never adds up."""
    drawn, so_far = "", 0
    for part in Component:
        so_far += phase.components.get(part, 0)
        drawn += LETTERS[part] * (round(so_far * scale) - len(drawn))
    return drawn


def _marked(bar: str, end: int) -> str:
    return f"{bar[:end]:<{end}}|{bar[end:]}"
