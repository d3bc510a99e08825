"""A GPU failed, or the driver reports an Xid.

## What it does
Finds the driver's Xid lines, memory (ECC) and NVLink errors of CUDA, and GPUs that left the PCIe bus or that nvidia-smi
cannot reach. The number of the Xid decides who has to act:

    13, 31, 43, 69              the program: a kernel used an invalid address or instruction
    45                          a consequence: the driver removed the program's work after another error
    48, 63, 64, 92, 94, 95, 140 memory (ECC): reset the GPU; 64, 95 and 140 need a look at the hardware
    74, 137, 144-150            NVLink: reset the GPUs; if it repeats, the link or its switch is broken
    79                          the GPU fell off the PCIe bus: power, heat or hardware; reboot the node
    61, 62, 109, 119, 120       the GPU's own firmware or driver hangs: reset the GPU, update the driver
    154                         the driver names the action that is due: reset the GPU or reboot the node

An SXid is the same of an NVSwitch. Those that the driver calls fatal end NVLink between the GPUs of the node.

## Why it breaks training
Every process on the GPU loses its state. The other ranks wait for it in a collective until their time limit. A retry on
the same node fails again.

## How to fix
Hardware: submit again with `--exclude=NODE` and send the Xid line to the administrators. Program: run once with
`CUDA_LAUNCH_BLOCKING=1`, so that the traceback names the kernel.

## Example
    NVRM: Xid (PCI:0000:3b:00): 79, pid=2811, name=python3, GPU has fallen off the bus.
"""

from skyrl_doctor.core.signature import Signature

XID = r"\bXid \((?:PCI:)?(?P<gpu>[\w:.]{4,20})\): "
EXCLUDE = (
    "{slurm:Submit again with `--exclude=NODE`|Use another node}, and send this line to the administrators: the node needs a GPU reset or a "
    "reboot before it takes jobs again."
)
RESET = "Run the job on another node{slurm: (`--exclude=NODE`)|} and ask the administrators to reset the GPU"

SIGNATURES = (
    Signature(
        pattern=r"\b(?:Error 802|CUDA error|CUDA_ERROR_SYSTEM_NOT_READY): system not yet initialized|\bcudaErrorSystemNotReady\b",
        sample="RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized",
        explain="the node's NVSwitch fabric is not up: nvidia-fabricmanager does not run, or its version is not the driver's",
        remedy="{slurm:Submit again with `--exclude=NODE`|Use another node}. On the node `systemctl status nvidia-fabricmanager` shows the reason; an administrator starts it in the version of the driver.",
        versions="torch, nvidia driver",
    ),
    Signature(
        pattern=rf"{XID}(?P<xid>79)\b",
        sample="NVRM: Xid (PCI:0000:3b:00): 79, pid=2811, name=python3, GPU has fallen off the bus.",
        explain="GPU {gpu} fell off the PCIe bus (Xid 79): power, heat or hardware, not your configuration",
        remedy=EXCLUDE,
        versions="nvidia driver",
        gravity=5,
    ),
    Signature(
        pattern=rf"{XID}(?P<xid>94)\b",
        sample="NVRM: Xid (PCI:0000:3b:00): 94, pid=2811, name=python3, Contained: SM (0x1). RST: No, D-RST: No",
        explain="GPU {gpu} had a memory error that it could not correct (Xid {xid}, contained): only the program that used this memory was ended",
        remedy="Start the program again. `nvidia-smi -q -d ECC,ROW_REMAPPER` shows whether the GPU has to remap a row: then it needs a reset once it is idle. If the error comes back, send this line to the administrators.",
        versions="nvidia driver",
        gravity=3,
    ),
    Signature(
        pattern=rf"{XID}(?P<xid>48|64|92|95|140)\b",
        sample="NVRM: Xid (PCI:0000:3b:00): 48, pid=2811, name=python3, DBE (double bit error) on FBPA 3",
        explain="GPU {gpu} has a memory error (Xid {xid}, ECC)",
        remedy=f"{RESET}; if it comes back, the memory is broken.",
        versions="nvidia driver",
        gravity=4,
    ),
    Signature(
        pattern=rf"{XID}(?P<xid>74|137|14[4-9]|150)\b",
        sample="NVRM: Xid (PCI:0000:3b:00): 74, pid=2811, name=python3, NVLink: fatal error detected on link 4",
        explain="GPU {gpu} reports an NVLink error (Xid {xid})",
        remedy=f"{RESET}; if it comes back, the link or its switch is broken.",
        versions="nvidia driver",
        gravity=3,
    ),
    Signature(
        pattern=rf"{XID}(?P<xid>13|31|69)\b",
        sample="NVRM: Xid (PCI:0000:3b:00): 31, pid=2811, name=python3, Ch 00000010, intr 10000000. MMU Fault",
        explain="a kernel on GPU {gpu} used an invalid address or instruction (Xid {xid}): mostly a fault of the program, not of the GPU",
        remedy="Run once with `CUDA_LAUNCH_BLOCKING=1`: the traceback then names the kernel. Update the package that it belongs to, or turn that kernel off. If the same program fails on one node only, exclude the node.",
        versions="nvidia driver",
    ),
    Signature(
        pattern=rf"{XID}(?P<xid>43|45|63)\b",
        sample="NVRM: Xid (PCI:0000:3b:00): 45, pid=2811, name=python3, Ch 00000010",
        explain="the driver stopped the work on GPU {gpu} (Xid {xid}), which mostly follows from another error",
        remedy="Look for another Xid or error above this line. If there is none, run the job on another node.",
        versions="nvidia driver",
        last_resort=True,
    ),
    Signature(
        pattern=rf"{XID}(?!(?:13|31|43|45|48|63|64|69|74|79|92|94|95|137|140|14[4-9]|150)\b)(?P<xid>\d{{1,3}})\b",
        sample="NVRM: Xid (PCI:0000:3b:00): 119, pid=2811, name=python3, Timeout after 6s of waiting for RPC response from GPU0 GSP!",
        explain="the driver reports a fault of GPU {gpu} (Xid {xid})",
        remedy=EXCLUDE,
        versions="nvidia driver",
        gravity=2,
    ),
    Signature(
        pattern=r"\bSXid \((?:PCI:)?(?P<switch>[\w:.]{4,20})\): (?P<sxid>\d{1,5}), Fatal\b",
        sample="nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 48 LTSSM Fault Up",
        explain="the NVSwitch {switch} reports a fatal error (SXid {sxid}): the node's GPUs cannot reach each other over it",
        remedy=EXCLUDE,
        versions="nvidia driver",
    ),
    Signature(
        pattern=r"\buncorrectable (?P<kind>ECC|NVLink) error\b|\bCUDA error: (?P<other>hardware stack) error\b|\bInvalid access of peer GPU memory over nvlink or a hardware error\b|\bcudaErrorContained\b|\bCUDA_ERROR_CONTAINED\b|\bcudaErrorECCUncorrectable\b|\bCUDA_ERROR_ECC_UNCORRECTABLE\b",
        sample="RuntimeError: CUDA error: uncorrectable ECC error encountered",
        explain="a GPU has a memory or link error that it cannot correct: hardware, not your configuration",
        remedy=EXCLUDE,
        versions="cuda",
    ),
    Signature(
        pattern=r"\b(?:GPU has )?fallen off the bus\b|\bGPU is lost\b|\bNVMLError_GpuIsLost\b|Unable to determine the device handle for (?:gpu|GPU) ?[\w:. ]{4,24}: Unknown Error|\bNVRM: [^\n]{0,60}\b(?:(?:RmInitAdapter|rm_init_adapter) failed|RmInitAdapter: Cannot initialize)",
        sample="Unable to determine the device handle for GPU0000:4F:00.0: Unknown Error",
        explain="the driver cannot reach a GPU any more: hardware, power or heat, not your configuration",
        remedy=EXCLUDE,
        versions="nvidia driver, nvidia-smi",
        unless=r"\bXid \(",
    ),
    Signature(
        pattern=r"\bdetected NVSwitch fatal error (?P<sxid>\d{1,5})\b",
        sample="nv-fabricmanager: detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:05:00.0 physical id 9 port 38",
        explain="an NVSwitch reports a fatal error (SXid {sxid}): the node's GPUs cannot reach each other over it",
        remedy=EXCLUDE,
        versions="nvidia fabric manager",
    ),
    Signature(
        pattern=r"\bnvidia (?P<gpu>[\da-f]{4}:[\da-f]{2}:[\da-f]{2}\.\d): (?:AER: can't recover|PCIe Bus Error: severity=Uncorrect(?:ed|able) \(Fatal\))",
        sample="nvidia 0000:3b:00.0: AER: can't recover (no error_detected callback)",
        explain="GPU {gpu} lost its PCIe link: hardware, power or heat, not your configuration",
        remedy=EXCLUDE,
        versions="linux",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bNVMLError_ResetRequired\b|\bGPU requires reset\b",
        sample="pynvml.NVMLError_ResetRequired: GPU requires reset",
        explain="a GPU must be reset before it can work again",
        remedy=EXCLUDE,
        versions="nvml",
    ),
    Signature(
        pattern=r"\bNVRM: [^\n]{0,80}(?:\bGSP Timeout \*{4}|\bGSP RM heartbeat timed out|\bHeartbeat timed out, currentTimeMs \d|\bGSP core unresponsive\b|\bGSP-RM unresponsive\b|\bGSP Failure \*{4}|\bRate limiting GSP RPC error prints\b|\bCannot initialize GSP firmware RM\b|\bMax GSP-RM boot attempts exceeded\b|\bReceived signal from GSP that PMU has halted\b|\bGSP-RM proxy boot command failed\b|\bGPU is likely in a bad state and may need to be reset\b)",
        sample="NVRM: GPU2 _kgspLogRpcTimeout: ********************************* GSP Timeout **********************************",
        explain="the processor on the GPU that runs a part of the driver (GSP) no longer answers",
        remedy=f"{EXCLUDE} If it comes back, a newer driver helps, or one without that processor (`NVreg_EnableGpuFirmware=0`, where the GPU allows it).",
        versions="nvidia driver >= 515",
        gravity=1,
    ),
)
