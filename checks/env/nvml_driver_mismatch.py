"""The loaded GPU driver does not fit its libraries, or is too old for torch.

## What it does
Finds NVML's and the driver's messages that the library in use is not the one of the loaded kernel module, and CUDA's
messages that the driver is older than the CUDA version of a package.

## Why it breaks training
nvidia-smi, NCCL and vLLM refuse to work with the GPUs of the node. Mostly the driver's packages were updated while the
old kernel module stayed loaded, or a container brings its own copy of the driver's libraries.

## How to fix
The node needs a reboot, or its kernel modules must be loaded again: submit with `--exclude=NODE` and tell the
administrators. In a container, remove a directory with `libnvidia-ml.so` or `cuda/compat` from `LD_LIBRARY_PATH`.
A driver that is too old for torch: install torch for the CUDA version that `nvidia-smi` prints.

## Example
    Failed to initialize NVML: Driver/library version mismatch
    NVML library version: 550.144
"""

from skyrl_doctor.core.signature import Signature

TOO_OLD = "the GPU driver is older than the CUDA version of torch"
NEWER = "`nvidia-smi` prints the newest CUDA version of this driver. Install torch built for it (such as `--index-url https://download.pytorch.org/whl/cu126`), or ask for a newer driver. A container image needs a driver as new as its CUDA too."
WARNED = r"Warning: CUDA initialization"
"""torch warns so and goes on with the CPU."""
NO_START = (
    r"\bNo CUDA GPUs are available|\bNo CUDA runtime is found|\bFound no NVIDIA driver\b|\bFailed to infer device type|\bcudaGetDeviceCount\b"
    r"|\btorch\.cuda\.is_available\(\) is False|\b(?:CUDA|cuda|GPUs?) (?:is|are) not available|\b[Nn]o GPUs? (?:found|available|detected)"
    r"|\bCUDA driver initialization failed|\bCUDA error: (?:no CUDA-capable device|initialization error|system not yet initialized)"
)
"""What programs write that find no GPU when they start."""

SIGNATURES = (
    Signature(
        pattern=r"[Dd]river/library version mismatch(?: NVML library version: (?P<library>[\d.]{3,12}))?|\bNVMLError_LibRmVersionMismatch\b|\bNVML/RM version mismatch\b|\bNVML_ERROR_LIB_RM_VERSION_MISMATCH\b",
        sample="Failed to initialize NVML: Driver/library version mismatch",
        explain="the node's GPU driver was updated, but the old kernel module is still loaded",
        remedy="{slurm:Submit again with `--exclude=NODE`|Use another node} and tell the administrators: the node needs a reboot, or its kernel modules loaded again once nothing uses a GPU. Does `nvidia-smi` fail in containers only? Then remove the copy of `libnvidia-ml.so` from the image or from `LD_LIBRARY_PATH`.",
        versions="nvml",
        refines=("GPU002",),
    ),
    Signature(
        pattern=r"API mismatch: the client has (?:the )?version (?P<client>[\d.]{3,12})",
        sample="NVRM: API mismatch: the client has the version 550.144.03, but this kernel module has the version 550.127.05.",
        explain="the driver's libraries have version {client}, the loaded kernel module has another",
        remedy="{slurm:Submit again with `--exclude=NODE`|Use another node} and tell the administrators to load the new kernel module or to reboot the node.",
        versions="nvidia driver",
    ),
    Signature(
        pattern=r"forward compatibility was attempted on non supported HW|\bcudaErrorCompatNotSupportedOnDevice\b|\bCUDA initialization failure with error: 80[34]\b|\bcudaErrorSystemDriverMismatch\b|\bCUDA_ERROR_SYSTEM_DRIVER_MISMATCH\b|\b(?:Error 80[34]|CUDA error): (?:system has unsupported display driver|forward compat)",
        sample="RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was attempted on non supported HW",
        explain="a copy of libcuda does not fit the loaded driver: the image's cuda/compat directory, or an updated driver",
        remedy="Remove `cuda/compat` from `LD_LIBRARY_PATH` (or use an image with a CUDA no newer than the driver). If the host fails too, the node needs a reboot.",
        versions="cuda",
        refines=("GPU002",),
    ),
    Signature(
        pattern=r"NVIDIA driver on your system is too old \(found version (?P<found>\d{4,6})\)|\bdriver version is insufficient for (?:the )?CUDA runtime version\b|\bcudaErrorInsufficientDriver\b|\bAPI call is not supported in the installed CUDA driver\b|\bcudaErrorCallRequiresNewerDriver\b|\bNCCL WARN CUDA Driver version found is \d{4,6}\. Minimum requirement",
        sample="RuntimeError: The NVIDIA driver on your system is too old (found version 12020). Please update your GPU driver",
        explain=TOO_OLD,
        remedy=NEWER,
        versions="torch",
        unless=WARNED,
    ),
    Signature(
        pattern=rf"{WARNED}: The NVIDIA driver on your system is too old",
        sample="/env/torch/cuda/__init__.py:141: UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).",
        explain=TOO_OLD,
        remedy=NEWER,
        versions="torch",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=rf"\b\w{{1,40}}Error: [^\n]{{0,200}}?(?:{NO_START})",
        near=rf"{WARNED}: The NVIDIA driver on your system is too old",
        within=5000,
        sample="RuntimeError: No CUDA GPUs are available",
        explain=TOO_OLD,
        remedy=NEWER,
        versions="torch",
        refines=("GPU002",),
        steps=False,
    ),
    Signature(
        pattern=r"\bThis container was built for NVIDIA Driver Release (?P<needed>[\d.]{3,12}) or later, but\b",
        sample="ERROR: This container was built for NVIDIA Driver Release 550.54 or later, but version 525.105.17 was detected and compatibility mode is UNAVAILABLE.",
        explain="the container image needs driver {needed} or newer, and the node's driver is older",
        remedy=NEWER,
        versions="ngc images",
        last_resort=True,
        passing=True,
    ),
)
