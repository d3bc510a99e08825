"""NCCL failed: an unhandled system, CUDA or internal error.

## What it does
Finds NCCL's own errors, as torch and vLLM print them.

## Why it breaks training
"Unhandled system error" is a failed call to the operating system: a network interface that does not reach the other
node, shared memory (`/dev/shm`) that is full, or a broken InfiniBand device. "Unhandled cuda error" is a failed CUDA
call: too little GPU memory for the communicator, two ranks on one GPU, or a GPU fault.

## How to fix
Run once with `NCCL_DEBUG=WARN`: the line before the error names the call that failed.

## Example
    ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.
"""

from skyrl_doctor.core.signature import Signature

NOT_REACHED = "a rank could not reach another one at {address}: {why}"
REACH = "Connection refused: that rank died first, and its own log has the reason. No route or a time-out: the address is of an interface that the other node does not reach, or a firewall closes its ports. Set `NCCL_SOCKET_IFNAME` to the interface that joins the nodes (`ip -br addr`)."

SIGNATURES = (
    Signature(
        pattern=r"\bNCCL WARN .{0,60}\bConnect to (?P<address>[\w.:\[\]]{3,80})(?:<\d{1,5}>)? failed ?: (?P<why>[A-Z][\w ]{3,60})",
        sample="gpu07:3211:3377 [1] include/socket.h:403 NCCL WARN Connect to 10.0.3.7<56821> failed : Connection refused",
        explain=NOT_REACHED,
        remedy=REACH,
        versions="nccl",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bsocket\w{1,30}: Connect to (?P<address>[\w.:\[\]]{3,80})(?:<\d{1,5}>)? failed ?: (?P<why>[A-Z][\w ]{3,60})",
        sample="socketStartConnect: Connect to 10.0.3.7<56821> failed : No route to host",
        explain=NOT_REACHED,
        remedy=REACH,
        versions="nccl",
        last_resort=True,
        refines=("TRN009",),
    ),
    Signature(
        pattern=r"\bunhandled system error\b|\bncclSystemError\b",
        sample="torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1331, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.18.5",
        explain="a system call of NCCL failed: mostly the network interface, shared memory or an InfiniBand device",
        remedy="Run once with `NCCL_DEBUG=WARN`: the line before the error names the call. Network: set `NCCL_SOCKET_IFNAME` to the interface that joins the nodes (`NCCL_IB_DISABLE=1` shows whether InfiniBand is at fault). In a container: start it with `--ipc=host` or `--shm-size=16g`.",
        versions="nccl",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bunhandled cuda error\b|\bncclUnhandledCudaError\b|\bNCCL Error 1\b",
        sample="RuntimeError: NCCL error: unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        explain="a CUDA call of NCCL failed: mostly too little free GPU memory, two ranks on one GPU, or a driver that is too old",
        remedy="Run once with `NCCL_DEBUG=WARN`: the line before the error names the CUDA error. Out of memory: lower `{key:rollout.gpu_memory_utilization}`. Invalid device: give each rank its own GPU.",
        versions="nccl",
        keys=("rollout.gpu_memory_utilization",),
        last_resort=True,
    ),
    Signature(
        pattern=r"\bncclInternalError\b|\bNCCL error: internal error\b",
        sample="ncclInternalError: Internal check failed.",
        explain="an internal check of NCCL failed: mostly ranks with different NCCL versions, or a topology that it cannot read",
        remedy="Compare `python -c 'import torch; print(torch.cuda.nccl.version())'` on all nodes, and run once with `NCCL_DEBUG=WARN`: the line before the error names the check.",
        versions="nccl",
        last_resort=True,
    ),
)
