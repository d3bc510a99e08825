"""NVML as a child process meets it, acted out from the JSON in $FAKE_NVML. {"nvml_error": N} raises in its place."""

# ruff: noqa: N802 -- the names are NVML's

import json
import os
import types

NVML_ERROR_NOT_SUPPORTED = 3
NVML_ERROR_NOT_FOUND = 6
NVML_DEVICE_MIG_ENABLE = 1
nvmlMemory_v2 = 33554472  # noqa: N816 -- NVML's own name


class NVMLError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value

    def __str__(self) -> str:
        return f"NVML error {self.value}"


class NVMLLibraryMismatchError(Exception):
    """Raised where the driver is too old for a function; it is no NVMLError."""


STATE = json.loads(os.environ["FAKE_NVML"])


def _told(table, name):
    value = table.get(name)
    if isinstance(value, dict) and "nvml_error" in value:
        raise NVMLError(value["nvml_error"])
    if isinstance(value, dict) and "mismatch" in value:
        raise NVMLLibraryMismatchError(value["mismatch"])
    return value


def nvmlInit():
    _told(STATE, "init")


def nvmlShutdown():
    return None


def nvmlSystemGetDriverVersion():
    return _told(STATE, "driver").encode()


def nvmlDeviceGetCount():
    return len(_told(STATE, "gpus"))


def nvmlDeviceGetHandleByIndex(index):
    if "nvml_error" in STATE["gpus"][index]:
        raise NVMLError(STATE["gpus"][index]["nvml_error"])
    return STATE["gpus"][index]


def nvmlDeviceGetUUID(handle):
    return _told(handle, "uuid")


def nvmlDeviceGetName(handle):
    return _told(handle, "name")


def nvmlDeviceGetMigMode(handle):
    return _told(handle, "mig")


def nvmlDeviceGetMaxMigDeviceCount(handle):
    return _told(handle, "most_slices")


def nvmlDeviceGetMigDeviceHandleByIndex(handle, index):
    found = handle["slices"][index]
    if "nvml_error" in found:
        raise NVMLError(found["nvml_error"])
    return found


def nvmlDeviceGetGpuInstanceId(handle):
    return _told(handle, "gi")


def nvmlDeviceGetComputeInstanceId(handle):
    return _told(handle, "ci")


def nvmlDeviceGetAttributes(handle):
    gi, ci, mib = _told(handle, "shape")
    return types.SimpleNamespace(gpuInstanceSliceCount=gi, computeInstanceSliceCount=ci, memorySizeMB=mib)


def nvmlDeviceGetMemoryInfo(handle, version=None):
    total, used = _told(handle, "memory" if version is None else "memory_v2")
    return types.SimpleNamespace(total=total, used=used, free=total - used)


def _processes(handle, name):
    return [types.SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in _told(handle, name) or []]


def nvmlDeviceGetComputeRunningProcesses_v3(handle):
    return _processes(handle, "computing")


def nvmlDeviceGetComputeRunningProcesses_v2(handle):
    return _processes(handle, "computing_v2")


def nvmlDeviceGetGraphicsRunningProcesses_v3(handle):
    return _processes(handle, "drawing")
