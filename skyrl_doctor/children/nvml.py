"""Reads from NVML the GPUs that this process can open, their MIG slices, memory and processes.

Prints one JSON object: {"driver", "gpus", "closed"}, or {"error": {"code", "text"}} if NVML as a whole failed.
Sizes are bytes. A value that a device does not report is null, and its error is in "refused".
"""

from __future__ import annotations

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

from importlib.machinery import PathFinder

LIBRARY = "libnvidia-ml.so.1"


def library_is_missing() -> bool:
    """Whether pynvml would find no driver library. Tested first, because importing pynvml is slow."""
    found = PathFinder.find_spec("pynvml")
    if found is None or found.origin is None:
        return False
    with open(found.origin, "rb") as file:
        if LIBRARY.encode() not in file.read():  # another module of that name, or one that loads another library
            return False
    from ctypes import CDLL

    try:
        CDLL(LIBRARY)
    except OSError:
        return True
    return False


if library_is_missing():  # pynvml's own error
    sys.stdout.write('{"error": {"code": 12, "text": "NVML Shared Library Not Found"}}\n')
    sys.exit(0)

import json  # noqa: E402 -- needed from here on
from collections.abc import Callable  # noqa: E402 -- as above

try:
    import pynvml
except ImportError as missing:
    sys.stdout.write(json.dumps({"error": {"code": None, "text": f"{type(missing).__name__}: {missing}"}}))
    sys.exit(0)

Handle = object
Answer = object


class Device:
    """One NVML handle. `ask` returns the first successful answer, or None, and stores the error."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle
        self.refused: dict[str, str] = {}

    def ask(self, what: str, *calls: Callable[[Handle], Answer]) -> Answer:
        for call in calls:
            try:
                answer = call(self.handle)
            except (pynvml.NVMLError, pynvml.NVMLLibraryMismatchError) as error:
                self.refused[what] = str(error)
            else:
                self.refused.pop(what, None)
                return answer
        return None

    def report(self, **fields: Answer) -> dict[str, Answer]:
        return {**fields, "refused": self.refused}


def main() -> dict[str, Answer]:
    try:
        pynvml.nvmlInit()
        try:
            return machine()
        finally:
            pynvml.nvmlShutdown()
    except pynvml.NVMLError as error:
        return {"error": {"code": error.value, "text": str(error)}}


def machine() -> dict[str, Answer]:
    system = Device(None)
    gpus: list[Answer] = []
    closed: list[Answer] = []
    for index in range(pynvml.nvmlDeviceGetCount()):
        try:
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        except pynvml.NVMLError as error:
            closed.append({"index": index, "why": str(error)})
            continue
        gpus.append(gpu(index, Device(handle)))
    driver = system.ask("driver", lambda _: text(pynvml.nvmlSystemGetDriverVersion()))
    return system.report(driver=driver, gpus=gpus, closed=closed)


def gpu(index: int, device: Device) -> dict[str, Answer]:
    mig = device.ask("mig", lambda handle: pynvml.nvmlDeviceGetMigMode(handle)[0] == pynvml.NVML_DEVICE_MIG_ENABLE)
    slices, closed = mig_slices(device) if mig else ([], [])
    return device.report(
        index=index,
        uuid=device.ask("uuid", uuid),
        name=device.ask("name", name),
        mig=mig,
        memory=device.ask("memory", memory_v2, memory_v1),
        processes=processes(device),
        slices=slices,
        closed=closed,
    )


def mig_slices(parent: Device) -> tuple[list[Answer] | None, list[Answer]]:
    most = parent.ask("slices", pynvml.nvmlDeviceGetMaxMigDeviceCount)
    if not isinstance(most, int):
        return None, []
    slices: list[Answer] = []
    closed: list[Answer] = []
    for index in range(most):
        try:
            handle = pynvml.nvmlDeviceGetMigDeviceHandleByIndex(parent.handle, index)
        except pynvml.NVMLError as error:
            if error.value != pynvml.NVML_ERROR_NOT_FOUND:  # not found: no slice at this index
                closed.append({"index": index, "why": str(error)})
            continue
        slices.append(mig_slice(index, Device(handle)))
    return slices, closed


def mig_slice(index: int, device: Device) -> dict[str, Answer]:
    return device.report(
        index=index,
        uuid=device.ask("uuid", uuid),
        name=device.ask("name", name),
        gi=device.ask("gi", pynvml.nvmlDeviceGetGpuInstanceId),
        ci=device.ask("ci", pynvml.nvmlDeviceGetComputeInstanceId),
        shape=device.ask("shape", shape),
        memory=device.ask("memory", memory_v2, memory_v1),
        processes=processes(device),
    )


def uuid(handle: Handle) -> Answer:
    return text(pynvml.nvmlDeviceGetUUID(handle))


def name(handle: Handle) -> Answer:
    return text(pynvml.nvmlDeviceGetName(handle))


def shape(handle: Handle) -> Answer:
    info = pynvml.nvmlDeviceGetAttributes(handle)
    return {"gi": info.gpuInstanceSliceCount, "ci": info.computeInstanceSliceCount, "memory_mib": info.memorySizeMB}


def memory_v2(handle: Handle) -> Answer:
    """Memory by version 2 of the call, whose `used` leaves out the driver's own reserve."""
    info = pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
    return {"total": info.total, "used": info.used, "free": info.free}


def memory_v1(handle: Handle) -> Answer:
    info = pynvml.nvmlDeviceGetMemoryInfo(handle)
    return {"total": info.total, "used": info.used, "free": info.free}


def processes(device: Device) -> Answer:
    """Compute and graphics processes, each once; None if the compute processes cannot be listed."""
    computing = device.ask(
        "processes",
        lambda handle: used(pynvml.nvmlDeviceGetComputeRunningProcesses_v3(handle)),
        lambda handle: used(pynvml.nvmlDeviceGetComputeRunningProcesses_v2(handle)),
    )
    drawing = device.ask("drawing", lambda handle: used(pynvml.nvmlDeviceGetGraphicsRunningProcesses_v3(handle)))
    if not isinstance(computing, dict):
        return None
    both = {**drawing, **computing} if isinstance(drawing, dict) else computing
    return [{"pid": pid, "used": both[pid]} for pid in sorted(both)]


def used(found: list[pynvml.c_nvmlProcessInfo_t]) -> Answer:
    return {process.pid: process.usedGpuMemory for process in found}


def text(value: object) -> Answer:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main()) + "\n")
