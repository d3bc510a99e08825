"""A tape records allocations and releases, and the peak of their sum.

Each phase of a run is simulated on a tape in the order of its code, so that two allocations count together only if they
exist at the same moment, and the peak can be broken down.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import NamedTuple


class Component(StrEnum):
    """What memory is used for."""

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
    ROWS = "log-probs row by row"
    ENTROPY = "entropy"
    STATE_DICT = "state dict copy"
    SUMMONED = "layers summoned for the adapters"  # freed as soon as memory is short
    BUCKET = "weight sync bucket"
    WORKSPACE = "cuBLAS workspaces"
    SLACK = "allocator slack"
    CONTEXT = "CUDA context"
    VLLM = "vLLM"


# torch's caching allocator keeps what is freed in the pool that it came from, by stream and by size (c10/cuda
# CUDACachingAllocator.cpp): FSDP gathers on a stream of its own and casts and reduces gradients on another
# (torch distributed/fsdp/_runtime_utils.py _init_streams), and tensors up to 1 MiB, as a row of log-probs, are apart.
_POOLS = {Component.GATHERED: "unshard", Component.GRADIENTS: "reduce", Component.ROWS: "small"}


class Played(NamedTuple):
    """The result of a tape: the bytes by component at the peak, and the peak of each allocator pool."""

    peak: Mapping[Component, int]
    pools: Mapping[str, int]


class Tape:
    """Records allocations and releases by component, and keeps a copy of the state at the peak."""

    def __init__(self) -> None:
        self._held: dict[Component, float] = {}
        self._peak: dict[Component, float] = {}
        self._fullest = 0.0
        self._pools: dict[str, float] = {}
        self._fullest_pools: dict[str, float] = {}
        self.total = 0.0

    def take(self, component: Component, size: float) -> None:
        self._held[component] = self._held.get(component, 0) + size
        self.total += size
        pool = _POOLS.get(component, "main")
        self._pools[pool] = held = self._pools.get(pool, 0) + size
        self._fullest_pools[pool] = max(held, self._fullest_pools.get(pool, 0))
        if self.total > self._fullest:
            self._fullest = self.total
            self._peak = dict(self._held)

    def give(self, component: Component, size: float) -> None:
        self._held[component] = self._held.get(component, 0) - size
        self._pools[_POOLS.get(component, "main")] -= size
        self.total -= size

    def give_all(self, component: Component) -> None:
        if component in self._held:
            self.give(component, self._held[component])
            del self._held[component]

    @contextmanager
    def held(self, component: Component, size: float) -> Iterator[None]:
        self.take(component, size)
        yield
        self.give(component, size)

    @property
    def peak(self) -> Mapping[Component, int]:
        """The bytes at the peak by component, without components below 1 byte."""
        return {component: round(size) for component, size in self._peak.items() if size >= 1}

    @property
    def played(self) -> Played:
        return Played(self.peak, {pool: round(size) for pool, size in self._fullest_pools.items()})
