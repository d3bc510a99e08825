"""A CPU in the place of the GPU, so that the program itself can be tried anywhere. Its figures are zeros."""

import os
from dataclasses import replace
from types import ModuleType
from typing import Any

from benchmarks.calibration.cases import A, Case


def stand_in() -> ModuleType:
    """torch.cpu with the calls that verl makes of torch.cuda."""
    import torch

    module = ModuleType("calibration_cpu")
    vars(module).update(vars(torch.cpu))
    nothing: dict[str, Any] = {name: lambda *_a, **_k: 0 for name in ("max_memory_allocated", "max_memory_reserved")}
    nothing |= {name: lambda *_a, **_k: None for name in ("empty_cache", "synchronize", "set_device", "ipc_collect")}
    nothing |= {"memory_allocated": lambda *_a, **_k: 0, "memory_reserved": lambda *_a, **_k: 0}
    nothing |= {
        "mem_get_info": lambda *_a, **_k: (0, 0),
        "manual_seed": torch.manual_seed,
        "manual_seed_all": torch.manual_seed,
    }
    nothing["get_device_name"] = lambda *_a, **_k: "CPU"
    vars(module).update(nothing)
    return module


def adapted(case: Case) -> Case:
    """FSDP1 wants a GPU; its second version runs here."""
    fsdp2 = {f"{A}.actor.strategy": "fsdp2", f"{A}.ref.strategy": "fsdp2", "critic.strategy": "fsdp2"}
    return replace(case, job=dict(case.job) | fsdp2)


def register() -> None:
    """Tells verl of the platform through its public registry, and lets its FSDP engine run on it."""
    os.environ |= {"VERL_PLATFORM": "calibration_cpu", "VERL_ENGINE_DEVICE": "cuda", "TORCHDYNAMO_DISABLE": "1"}
    from verl.plugin.platform import PlatformRegistry
    from verl.plugin.platform.platform_cuda import PlatformCUDA

    device = stand_in()

    @PlatformRegistry.register(platform="calibration_cpu")
    class PlatformCPU(PlatformCUDA):
        device_name = "cpu"
        device_module = device

        def is_available(self) -> bool:
            return True

        def current_device(self) -> Any:
            return "cpu"

        def communication_backend_name(self) -> str:
            return "gloo"

        def set_allocator_settings(self, settings: str) -> None:
            """A CPU has no such allocator."""
