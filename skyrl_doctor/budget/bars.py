"""Draws a stacked bar for each phase in text: a letter for each component, `|` at the end of the device's memory."""

import textwrap
from collections.abc import Iterator

from skyrl_doctor.facts.gpu.budget import GpuBudget
from skyrl_train.memory import Component, PhaseBudget

WIDTH = 48
"""Most columns for the device's memory, or for the fullest phase if that is more."""
SCREEN = 80


def _letters() -> dict[Component, str]:
    """Gives each component the first letter of its name that is still free."""
    letters: dict[Component, str] = {}
    for part in Component:
        name = part.value.replace(" ", "")
        candidates = [*name.upper(), *name.lower()]
        letters[part] = next(letter for letter in candidates if letter not in letters.values())
    return letters


LETTERS = _letters()


def draw_bars(memory: GpuBudget, screen: int = SCREEN) -> Iterator[str]:
    """One line per phase, then the legend, for a screen of so many columns."""
    phases = memory.budget.phases
    first = max(len(str(phase.phase)) for phase in phases)
    scale = min(WIDTH, screen - first - 3) / max(memory.limit, *(phase.total for phase in phases))
    end = round(memory.limit * scale)
    for phase in phases:
        yield f"{phase.phase!s:<{first}}  {_with_limit(_bar(phase, scale), end)}"
    used = [part for part in Component if any(part in phase.components for phase in phases)]
    legend = ", ".join(f"{LETTERS[part]} {part}" for part in used)
    yield from textwrap.wrap(f"{legend}, | limit of the GPU", screen)


def _bar(phase: PhaseBudget, scale: float) -> str:
    """Draws each component up to its running sum, so rounding errors do not add up."""
    drawn, so_far = "", 0
    for part in Component:
        so_far += phase.components.get(part, 0)
        drawn += LETTERS[part] * (round(so_far * scale) - len(drawn))
    return drawn


def _with_limit(bar: str, end: int) -> str:
    return f"{bar[:end]:<{end}}|{bar[end:]}"
