"""A tape of what is taken and given back; the peak is what the tape shows at its fullest.

Each phase of a run is played on a tape in the order of the code that runs it, so that two things count together only if
they are there at the same moment, and the peak can say what it is made of.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum


class Component(StrEnum):
    """What memory is spent on, named one by one."""

    WEIGHTS = "weights"  # the trainer's own copy, in its master precision
    GATHERED = "gathered weights"  # the compute copy of the units that are in use
    GRADIENTS = "gradients"
    OPTIMIZER = "optimizer states"
    OPTIMIZER_WORK = "optimizer temporaries"
    ADAPTERS = "LoRA adapters"
    REFERENCE = "reference model"
    OTHER = "the other model, waiting"  # the critic while the actor works, and the other way round
    CHECKPOINTS = "activation checkpoints"
    ACTIVATIONS = "activations"
    LOGITS = "logits"
    ENTROPY = "entropy"
    STATE_DICT = "state dict copy"
    BUCKET = "weight sync bucket"
    SLACK = "allocator slack"
    CONTEXT = "CUDA context"
    VLLM = "vLLM"


class Tape:
    """Takes and gives of bytes by component, and a copy of the books at the fullest moment."""

    def __init__(self) -> None:
        self._held: dict[Component, float] = {}
        self._peak: dict[Component, float] = {}
        self._fullest = 0.0
        self.total = 0.0

    def take(self, component: Component, size: float) -> None:
        self._held[component] = self._held.get(component, 0) + size
        self.total += size
        if self.total > self._fullest:
            self._fullest = self.total
            self._peak = dict(self._held)

    def give(self, component: Component, size: float) -> None:
        self._held[component] = self._held.get(component, 0) - size
        self.total -= size

    def give_all(self, component: Component) -> None:
        self.total -= self._held.pop(component, 0)

    @contextmanager
    def held(self, component: Component, size: float) -> Iterator[None]:
        self.take(component, size)
        yield
        self.give(component, size)

    @property
    def peak(self) -> Mapping[Component, int]:
        """What was held at the fullest moment; what came to nothing is left out."""
        return {component: round(size) for component, size in self._peak.items() if size >= 1}
