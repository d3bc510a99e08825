"""What each run holds of the device, as its driver counts it: a series in a file, and the largest of it."""

import contextlib
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.training_gpu.marks import OF, RUN
from skyrl_train.procfs import environ_of

EVERY_S = 0.25
GIB = 2**30


def device(nvml: Any, visible: str) -> Any:
    """NVML's handle of the first device, or MIG slice, that a run may use: NVML itself knows nothing of the variable."""
    first = visible.partition(",")[0].strip()
    if first.startswith(("GPU-", "MIG-")):
        return nvml.nvmlDeviceGetHandleByUUID(first)
    return nvml.nvmlDeviceGetHandleByIndex(int(first or 0))


class Memory:
    """Looks while it is open. Without NVML it has nothing to say."""

    def __init__(self, path: Path) -> None:
        self._path, self._end = path, threading.Event()
        self._names: dict[int, str] = {}
        self.peaks: dict[str, float] = {}
        self.total_gib = 0.0
        self._nvml: Any = None
        with contextlib.suppress(Exception):  # no NVML, no device: whatever it is, there is nothing to look at
            import pynvml

            pynvml.nvmlInit()
            self._device = device(pynvml, os.environ.get("CUDA_VISIBLE_DEVICES", ""))
            self.total_gib = pynvml.nvmlDeviceGetMemoryInfo(self._device).total / GIB
            self._nvml = pynvml
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Memory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(5.0)

    def _look(self) -> None:
        if self._nvml is None:
            return
        with self._path.open("a", encoding="utf-8") as file:
            while not self._end.wait(EVERY_S):
                with contextlib.suppress(self._nvml.NVMLError):
                    file.write(json.dumps(self._seen()) + "\n")
                    file.flush()

    def _seen(self) -> dict[str, Any]:
        held: dict[str, float] = {}
        for process in self._nvml.nvmlDeviceGetComputeRunningProcesses(self._device):
            if process.usedGpuMemory is None:  # a driver that does not tell
                continue
            name = self._names.get(process.pid) or self._name(process.pid)
            held[name] = held.get(name, 0.0) + process.usedGpuMemory / GIB
        held["all"] = self._nvml.nvmlDeviceGetMemoryInfo(self._device).used / GIB
        for name, gib in held.items():
            self.peaks[name] = max(self.peaks.get(name, 0.0), gib)
        return {"at": round(time.time(), 2)} | {name: round(gib, 3) for name, gib in held.items()}

    def _name(self, pid: int) -> str:
        mark = f"{RUN}=".encode()
        words = [word for word in environ_of(pid) if word.startswith(mark)]
        self._names[pid] = words[0][len(mark) :].decode().partition(OF)[0] if words else "unknown"
        return self._names[pid]
