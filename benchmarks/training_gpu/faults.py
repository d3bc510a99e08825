"""Spoils transfers of weights to a model server, for the proof that such a fault is found.

VERL_USE_EXTERNAL_MODULES names this module, SKYRL_BENCH_FAULT the fault and the transfer: `previous@1` is the one after
step 1, `layer@1+` that and all later ones.
"""

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

from benchmarks.training_gpu.marks import FAULT

SENDER = "verl.workers.rollout.vllm_rollout.bucketed_weight_transfer"
LAYER = ".layers.1."
Named = tuple[str, Any]


def nothing(_weights: Sequence[Named], _before: Sequence[Named]) -> Sequence[Named]:
    """No tensor is sent."""
    return []


def layer(weights: Sequence[Named], _before: Sequence[Named]) -> Sequence[Named]:
    """One layer is missing."""
    return [(name, tensor) for name, tensor in weights if LAYER not in name]


def adapter(weights: Sequence[Named], _before: Sequence[Named]) -> Sequence[Named]:
    """The adapter has its tensors, and nothing in them."""
    return [(name, tensor.new_zeros(tensor.shape)) for name, tensor in weights]


def previous(_weights: Sequence[Named], before: Sequence[Named]) -> Sequence[Named]:
    """The weights of the transfer before."""
    return before


KINDS: dict[str, Callable[[Sequence[Named], Sequence[Named]], Sequence[Named]]] = {
    one.__name__: one for one in (nothing, layer, adapter, previous)
}


class Spoiled(importlib.abc.MetaPathFinder):
    """Changes verl's sender when it is imported; importing it here would load vLLM into each process."""

    def __init__(self, fault: str) -> None:
        self._kind, _, number = fault.partition("@")
        self._first, self._on, self._sent = int(number.rstrip("+")), number.endswith("+"), 0
        self._before: list[Named] = []

    def find_spec(self, name: str, path: Sequence[str] | None, _target: Any = None) -> Any:
        if name != SENDER:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def spoil(module: ModuleType) -> None:
            execute(module)
            sends = module.BucketedWeightSender.async_send_weights

            async def send(sender: Any, weights: Iterable[Named] | AsyncIterable[Named]) -> None:
                if isinstance(weights, AsyncIterable):  # of another GPU
                    weights = [(name, tensor.clone()) async for name, tensor in weights]
                await sends(sender, self._spoil(weights))

            module.BucketedWeightSender.async_send_weights = send

        spec.loader.exec_module = spoil  # type: ignore[method-assign]
        return spec

    def _spoil(self, weights: Iterable[Named]) -> Iterator[Named]:
        now = [(name, tensor.detach().clone()) for name, tensor in weights]
        spoiled = self._sent == self._first or (self._on and self._sent > self._first)
        sent = KINDS[self._kind](now, self._before) if spoiled else now
        self._sent += 1
        self._before = now
        yield from sent


if os.environ.get(FAULT):
    sys.meta_path.insert(0, Spoiled(os.environ[FAULT]))
