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
        name = "".join(filter(str.isalpha, part.value))
        candidates = [*name.upper(), *name.lower()]
        letters[part] = next(letter for letter in candidates if letter not in letters.values())
    return letters


LETTERS = _letters()
MEANINGS = {
    Component.WEIGHTS: "the trainer's copy of the model",
    Component.GATHERED: "layers fetched from the other GPUs for the computation, freed afterwards",
    Component.GRADIENTS: "one number for each trained weight",
    Component.OPTIMIZER: "Adam's two averages for each trained weight",
    Component.OPTIMIZER_WORK: "copies that Adam makes while it updates",
    Component.ADAPTERS: "the small trained matrices",
    Component.REFERENCE: "the frozen model of the KL term",
    Component.OTHER: "kept on the GPU meanwhile",
    Component.CHECKPOINTS: "the input of each layer, kept to compute the layer again",
    Component.ACTIVATIONS: "results inside of one layer, for the backward pass",
    Component.LOGITS: "a score for each word of the vocabulary at each token",
    Component.ROWS: "the log-probs of one sequence after the other",
    Component.ENTROPY: "copies of the logits, to compute the entropy",
    Component.STATE_DICT: "weights copied to be sent or saved",
    Component.SUMMONED: "layers put together for the adapters",
    Component.BUCKET: "weights on their way to vLLM",
    Component.WORKSPACE: "room that matrix products need",
    Component.SLACK: "reserved by PyTorch, but in pieces too small to use",
    Component.CONTEXT: "what the driver takes for each process",
    Component.VLLM: "its weights and its KV cache",
}


def draw_bars(memory: GpuBudget, screen: int = SCREEN) -> Iterator[str]:
    """One line per phase, then what each letter means that is drawn, for a screen of so many columns."""
    phases = memory.budget.phases
    first = max(len(str(phase.phase)) for phase in phases)
    scale = min(WIDTH, screen - first - 3) / max(memory.limit, *(phase.total for phase in phases))
    end = round(memory.limit * scale)
    for phase in phases:
        yield f"{phase.phase!s:<{first}}  {_with_limit(_bar(phase, scale), end)}"
    drawn = "".join(_bar(phase, scale) for phase in phases)
    for part in Component:
        if LETTERS[part] in drawn:
            meaning = f"{LETTERS[part]}  {part}: {MEANINGS[part]}"
            yield from textwrap.wrap(meaning, screen, subsequent_indent="   ")
    yield "|  the limit of the GPU"


def _bar(phase: PhaseBudget, scale: float) -> str:
    """Draws each component up to its running sum, so rounding errors do not add up."""
    drawn, so_far = "", 0
    for part in Component:
        so_far += phase.components.get(part, 0)
        drawn += LETTERS[part] * (round(so_far * scale) - len(drawn))
    return drawn


def _with_limit(bar: str, end: int) -> str:
    return f"{bar[:end]:<{end}}|{bar[end:]}"
