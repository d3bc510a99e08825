"""In each process of a run, by VERL_USE_EXTERNAL_MODULES: the limit of the trainer's memory, and whether steps move weights.

A limit that is only looked at afterwards shows nothing: torch itself refuses what is beyond it, as a smaller device would.
"""

# ruff: noqa: TID253 -- imported only by a process that trains

import json
import multiprocessing
import os
import time
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from benchmarks.training_gpu.marks import LIMIT, MOVED

SAMPLE = 1 << 16
"""Of each tensor so many elements are looked at."""
_before: dict[int, list[torch.Tensor]] = {}


def _local(parameter: torch.Tensor) -> torch.Tensor:
    whole = getattr(parameter, "_local_tensor", parameter)
    return whole.detach().flatten()[:SAMPLE]


def _trained(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    every = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    return [_local(parameter) for parameter in every if parameter.grad is not None]


def _remember(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    _before[id(optimizer)] = [one.clone() for one in _trained(optimizer)]


def _tell(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    pairs = list(zip(_before.pop(id(optimizer), []), _trained(optimizer), strict=True))
    changes = [float((new - old).abs().max()) for old, new in pairs if new.numel()]
    line = {"at": time.time(), "tensors": len(changes), "moved": sum(change > 0 for change in changes)}
    with open(os.environ[MOVED], "a", encoding="utf-8") as file:
        file.write(json.dumps(line | {"largest": max(changes, default=0.0)}) + "\n")


def _limited() -> None:
    if multiprocessing.parent_process() is not None:
        return  # vLLM's processes are children of multiprocessing: they have a limit of their own
    free_of_all = torch.cuda.get_device_properties(0).total_memory / 2**30
    torch.cuda.set_per_process_memory_fraction(min(1.0, float(os.environ[LIMIT]) / free_of_all))


if os.environ.get(MOVED):
    register_optimizer_step_pre_hook(_remember)
    register_optimizer_step_post_hook(_tell)
if os.environ.get(LIMIT):
    torch.cuda._lazy_call(_limited)  # noqa: SLF001 -- no device is asked for before the process wants one
