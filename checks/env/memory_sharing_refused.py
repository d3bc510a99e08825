"""The system refuses one process the memory or the file descriptors of another.

## What it does
Finds the errors of PyTorch, FlashInfer and UCX when the kernel refuses `pidfd_getfd`, `process_vm_readv` or
`process_vm_writev`, and PyTorch's error where the kernel has no `pidfd_getfd`.

## Why it breaks training
A trainer gives its new weights to the model server on the same GPU as a handle, not as a copy. With
`expandable_segments:True` PyTorch takes the handle out of the other process (`pidfd_getfd`), which the kernel allows
only to a process that may trace the other one. Containers run without the capability SYS_PTRACE, and
`kernel.yama.ptrace_scope=1`, the default of Ubuntu, allows it for child processes only. The first weight sync fails.

## How to fix
Use `expandable_segments:False` in the process that sends: PyTorch then shares through CUDA IPC, which needs no such
right. Or start the container with `--cap-add=SYS_PTRACE`; on a node without a container, an administrator sets
`sysctl kernel.yama.ptrace_scope=0`.

## Example
    RuntimeError: pidfd_getfd: Operation not permitted
"""

from skyrl_doctor.core.signature import Signature

ALLOW = "start the container with `--cap-add=SYS_PTRACE` (Kubernetes: `securityContext.capabilities.add`); without a container, an administrator sets `sysctl kernel.yama.ptrace_scope=0`, as `cat /proc/sys/kernel/yama/ptrace_scope` shows"
NOT_EXPANDABLE = "Remove `expandable_segments:True` from `PYTORCH_CUDA_ALLOC_CONF` and `PYTORCH_ALLOC_CONF` of the process that sends (the trainer)"
DENIED = r"(?:Operation not permitted|Permission denied)"

SIGNATURES = (
    Signature(
        pattern=rf"\bpidfd_(?:getfd|open): ?{DENIED}|\bpidfd_(?:getfd|open)\b[^\n]{{0,80}} failed with errno (?:1|13) \({DENIED}",
        sample="RuntimeError: pidfd_getfd: Operation not permitted",
        explain="the kernel refuses this process the GPU memory of another one (`pidfd_getfd`): it may not trace it, as in a container without SYS_PTRACE",
        remedy=f"{NOT_EXPANDABLE}: PyTorch then shares its memory without this right. Or {ALLOW}.",
        versions="torch >= 2.5",
    ),
    Signature(
        pattern=rf"\bpidfd_(?:getfd|open)\([^)\n]{{0,80}}\) failed with errno (?:1|13): {DENIED}",
        sample="RuntimeError: pidfd_getfd(pidfd=164, fd=183) failed with errno 1: Operation not permitted. Permission denied. If running in a container, try adding --cap-add=SYS_PTRACE to your docker run command.",
        explain="the kernel refuses this process the GPU memory of the other ranks (`pidfd_getfd`): it may not trace them, as in a container without SYS_PTRACE",
        remedy=f"FlashInfer's all-to-all needs this right: {ALLOW}. Or choose another all-to-all for the experts of the model server.",
        versions="flashinfer, tensorrt-llm",
    ),
    Signature(
        pattern=r"\bThe kernel on this machine does not support the pidfd_\w{4,8} syscall needed to use IPC for CUDA tensors\b",
        sample="RuntimeError: The kernel on this machine does not support the pidfd_open syscall needed to use IPC for CUDA tensors when expandable_segments:True is set. Consider using expandable_segments:False via torch.cuda.memory._set_allocator_settings('expandable_segments:False') for this allocation.",
        explain="this kernel has no `pidfd_getfd` (it is older than Linux 5.6, or the container runs in gVisor), which PyTorch needs to share memory of expandable segments",
        remedy=f"{NOT_EXPANDABLE}, or use a node with a newer kernel (`uname -r`).",
        versions="torch >= 2.5",
    ),
    Signature(
        pattern=rf"\bprocess_vm_(?:readv|writev)\b[^\n]{{0,200}}(?:returned -1: |error message ){DENIED}",
        sample="[lxbk1012:3549626:0:3549626]      cma_ep.c:84   process_vm_readv(pid=3549634 {0x24ed520,12480}-->{0x1bd42a0,12480}) returned -1: Operation not permitted",
        explain="the kernel refuses this process the memory of another one (`process_vm_readv`): it may not trace it, as in a container without SYS_PTRACE",
        remedy=f"`UCX_TLS=^cma` (Open MPI: `--mca smsc ^cma`) copies in another way. Or {ALLOW}.",
        versions="ucx, open mpi",
    ),
    Signature(
        pattern=rf"\bUCX  ?ERROR (?:open|shm_open)\(file_name=/proc/\d{{1,8}}/fd/\d{{1,6}}[^)\n]{{0,80}}\) failed: {DENIED}",
        sample="[1700000000.123456] [gpu07:3522:0]  mm_posix.c:195  UCX  ERROR open(file_name=/proc/3523/fd/27 flags=0x0) failed: Permission denied",
        explain="the kernel refuses this process a file descriptor of another one (`/proc/PID/fd`), by which UCX shares memory: the processes are in different user namespaces, as where each starts a container of its own",
        remedy=f"Start the processes of a node in one container (`apptainer exec instance://NAME`), or set `UCX_TLS=^posix`, which shares memory in another way. Or {ALLOW}.",
        versions="ucx",
    ),
)
