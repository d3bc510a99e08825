"""verl on a CPU: a platform for its PlatformRegistry, and what its engines ask of a GPU that a CPU answers otherwise.

Each process of a run imports it by VERL_USE_EXTERNAL_MODULES=cpu_stack.device. It is the tests' own, and no part of the
product: nobody trains on this.
"""

import contextlib
import functools
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch.distributed.fsdp import CPUOffloadPolicy
from verl.plugin.platform import PlatformBase, PlatformRegistry


def _nothing(*_args: object, **_words: object) -> None:
    return None


def _zero(*_args: object, **_words: object) -> int:
    return 0


class _Id(str):
    """verl moves tensors to a device's number, and writes "cpu:NUMBER": a CPU goes by its name, and has the number 0."""

    def __format__(self, spec: str) -> str:
        return "0"


class _Device(types.ModuleType):
    """torch.cpu, and what torch.cuda has beyond it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch.cpu, name)


DEVICE = _Device("cpu_device")
for _name in ("empty_cache", "ipc_collect", "set_per_process_memory_fraction", "synchronize", "set_device"):
    setattr(DEVICE, _name, _nothing)
for _name in ("memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved"):
    setattr(DEVICE, _name, _zero)
vars(DEVICE).update(
    is_available=lambda: True,
    current_device=lambda: _Id("cpu"),
    device_count=lambda: 1,
    get_device_name=lambda *_: "cpu",
    mem_get_info=lambda *_: (8 << 30, 16 << 30),
    get_rng_state=torch.get_rng_state,
    set_rng_state=torch.set_rng_state,
    manual_seed=torch.manual_seed,
    manual_seed_all=torch.manual_seed,
)


@PlatformRegistry.register(platform="cpu")
class PlatformCPU(PlatformBase):
    device_name = "cpu"
    vendor_name = "none"
    device_module = DEVICE

    def is_available(self) -> bool:
        return True

    def current_device(self) -> str:
        return _Id("cpu")

    def device_count(self) -> int:
        return 1

    def set_device(self, device_index: int) -> None:
        pass

    def synchronize(self, device_index: int | None = None) -> None:
        pass

    def manual_seed(self, seed: int) -> None:
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        torch.manual_seed(seed)

    def set_allocator_settings(self, settings: str) -> None:
        pass

    def empty_cache(self) -> None:
        pass

    def get_device_capability(self, device_index: int = 0) -> tuple[int | None, int | None]:
        return None, None

    def communication_backend_name(self) -> str:
        return "gloo"

    def visible_devices_envvar(self) -> str:
        return "CUDA_VISIBLE_DEVICES"

    @contextlib.contextmanager
    def nvtx_range(self, msg: str) -> Iterator[None]:
        yield

    def profiler_start(self) -> None:
        pass

    def profiler_stop(self) -> None:
        pass

    def ray_resource_name(self) -> str:
        return "GPU"  # of which ray.init(num_gpus=1) has as many as it is told

    def ray_noset_envvars(self) -> list[str]:
        return ["RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"]

    def is_ipc_supported(self) -> bool:
        return False

    def cudart(self) -> None:
        return None


_init_process_group = torch.distributed.init_process_group


@functools.wraps(_init_process_group)
def _one_backend(backend: str | None = None, **words: Any) -> None:
    """verl asks for "cpu:gloo,DEVICE:BACKEND", which names the CPU twice here."""
    _init_process_group(backend="gloo" if backend and "," in backend else backend, **words)


torch.distributed.init_process_group = _one_backend


_offload_policy = CPUOffloadPolicy.__init__


@functools.wraps(_offload_policy)
def _not_pinned(self: CPUOffloadPolicy, pin_memory: bool = True) -> None:
    """verl keeps a reference model in pinned memory, which is memory of an accelerator."""
    _offload_policy(self, pin_memory=False)


CPUOffloadPolicy.__init__ = _not_pinned  # type: ignore[method-assign]  # also where it is imported by now
