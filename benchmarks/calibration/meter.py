"""Reads torch's allocator phase by phase."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch  # noqa: TID253 - this module is imported only by a process that measures

GIB = 2**30
Reading = dict[str, float]


def gib(count: float) -> float:
    """Bytes as GiB, to a tenth of a MiB."""
    return round(count / GIB, 4)


class Meter:
    """Peak and resident memory of each phase. On a machine without a GPU every figure is 0, and only the path is tried."""

    def __init__(self) -> None:
        self.gpu = torch.cuda.is_available()
        self.phases: dict[str, dict[str, Any]] = {}
        self.current: str | None = None

    def resident(self) -> Reading:
        """What torch holds now."""
        if not self.gpu:
            return {"allocated_gib": 0.0, "reserved_gib": 0.0}
        return {"allocated_gib": gib(torch.cuda.memory_allocated()), "reserved_gib": gib(torch.cuda.memory_reserved())}

    def _peak(self) -> Reading:
        if not self.gpu:
            return {"allocated_gib": 0.0, "reserved_gib": 0.0}
        torch.cuda.synchronize()
        return {
            "allocated_gib": gib(torch.cuda.max_memory_allocated()),
            "reserved_gib": gib(torch.cuda.max_memory_reserved()),
        }

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measures what runs inside. A phase that dies of OOM leaves its name in `current`."""
        before, started, self.current = self.resident(), time.monotonic(), name
        if self.gpu:
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
        yield
        peak = self._peak()
        self.phases[name] = {
            "before": before,
            "peak": peak,
            "after": self.resident(),
            "seconds": round(time.monotonic() - started, 2),
        }
        self.current = None

    def outside_torch(self) -> float:
        """GiB of the device in use that are not torch's: context, libraries, other processes."""
        if not self.gpu:
            return 0.0
        free, total = torch.cuda.mem_get_info()
        return gib(total - free - torch.cuda.memory_reserved())
