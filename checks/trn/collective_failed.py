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
REACH = "Connection refused: that rank died first, and its own log has the reason. No route, an abort or a time-out: the address is of an interface that the other node does not reach, or a firewall closes its ports. Set `NCCL_SOCKET_IFNAME` to the interface that joins the nodes (`ip -br addr`). An address that begins with `fe80:` reaches one link only: set `NCCL_SOCKET_FAMILY=AF_INET`."
ADDRESS = r"(?P<address>\S{3,80}?)(?:<\d{1,5}>)?"
REFUSED = r"(?:failed ?:|failed with error|returned(?: \d{1,4}\()?) ?(?P<why>[A-Z][\w ]{3,60})"
NOT_CONNECTED = r"\bclient socket has (?:failed to connect|timed out)\b[^\n]{0,160}|\bGloo connectFullMesh failed\b"
RENDEZVOUS = "a rank could not connect to the others: the address of the rendezvous, or an interface, is not reached"
MEET = "`MASTER_ADDR` and `MASTER_PORT` must name a node and port that all nodes reach (`nc -vz HOST PORT`), and rank 0 must run. Gloo: set `GLOO_SOCKET_IFNAME` to the interface that joins the nodes (`ip -br addr`)."
WARNED = r"\[W\d{0,12}[: ]"
"""c10d warns so and tries the next address, or again."""
NO_IPV6 = r"errno: 97\b"

SIGNATURES = (
    Signature(
        pattern=rf"\bNCCL WARN .{{0,60}}[Cc]onnect to {ADDRESS} {REFUSED}",
        sample="gpu07:3211:3377 [1] include/socket.h:403 NCCL WARN Connect to 10.0.3.7<56821> failed : Connection refused",
        explain=NOT_REACHED,
        remedy=REACH,
        versions="nccl",
        last_resort=True,
    ),
    Signature(
        pattern=rf"\b(?:nccl(?:Os)?S|s)ocket\w{{1,30}}:? [Cc]onnect to {ADDRESS} {REFUSED}",
        sample="socketStartConnect: Connect to 10.0.3.7<56821> failed : No route to host",
        explain=NOT_REACHED,
        remedy=REACH,
        versions="nccl",
        last_resort=True,
        refines=("TRN009",),
    ),
    Signature(
        pattern=r"\bBootstrap Root : (?:rank (?P<rank>\d{1,6}) of (?P<of>\d{1,6}) ranks has already checked in|mismatch in rank count from procs (?P<one>\d{1,6}) : (?P<other>\d{1,6}))",
        sample="gpu07:8569:8835 [0] bootstrap.cc:131 NCCL WARN Bootstrap Root : rank 1 of 8 ranks has already checked in",
        explain="the processes disagree about their ranks: two have the same rank, or they expect different numbers of ranks",
        remedy="Compare `RANK`, `WORLD_SIZE` and `MASTER_PORT` of all processes: the launcher's number of nodes and of processes on each must be that of the job, and no older run may use the same port.",
        versions="nccl",
    ),
    Signature(
        pattern=r"\bNCCL WARN .{0,60}\bCall to (?P<call>bind|listen|socket|getsockname|setsockopt|getaddrinfo)\b.{0,80}? failed ?: (?P<why>[A-Z][\w ]{3,60})",
        unless=r"\bras/",
        sample="gpu07:3211:3377 [0] include/socket.h:333 NCCL WARN Call to bind failed : Address already in use",
        explain="NCCL's call of {call}() failed: {why}",
        remedy="Address already in use: an older run of yours still holds the port (`ss -ltnp`), or `NCCL_COMM_ID` or `MASTER_PORT` names one port for two runs. Cannot assign: set `NCCL_SOCKET_IFNAME` to an interface of this node (`ip -br addr`).",
        versions="nccl",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bNCCL WARN (?:nccl(?:Os)?)?[Ss]ocket\w{0,20}:? .{0,40}\bfailed(?:[:,] (?P<why>[^\n]{3,80})| while polling\b)",
        sample="gpu07:5204:5666 [8] misc/socket.cc:300 NCCL WARN socketTryAccept: Accept failed: Bad file descriptor",
        explain="a network call of NCCL failed: {why}",
        remedy="Look for the rank that failed first: the others lose their connection to it. If all ranks still ran, set `NCCL_SOCKET_IFNAME` to the interface that joins the nodes (`ip -br addr`).",
        versions="nccl",
        last_resort=True,
    ),
    Signature(
        pattern=rf"\bNCCL WARN .{{0,40}}Connection closed by remote peer {ADDRESS}(?:\s|$)",
        sample="gpu07:922:1149 [3] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer gpu08.ib0<53735>",
        explain="the rank at {address} closed its connection while others waited for it",
        remedy="That rank failed first: its own log, or NCCL's warnings with its name, have the reason.",
        versions="nccl",
        last_resort=True,
    ),
    Signature(
        pattern=r"(?:\bfailed to extend|\b[Ee]rror while (?:creating|attaching to) shared memory segment) (?P<path>/dev/shm/nccl-\w{1,20})(?: (?:\(size|to) (?P<size>\d{1,15}))?",
        sample="Error while creating shared memory segment /dev/shm/nccl-ufmqwQ (size 7340384)",
        explain="NCCL got no room for {path} ({size} bytes): /dev/shm is full or too small",
        remedy="In a container: start it with `--shm-size=16g` or `--ipc=host`; in Kubernetes mount an `emptyDir` with `medium: Memory` at /dev/shm. On a node: `df -h /dev/shm`, and remove what dead runs left (`/dev/shm/nccl-*`). `NCCL_SHM_DISABLE=1` does without it, more slowly.",
        versions="nccl",
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
        pattern=r"\bncclInternalError\b|\bNCCL error(?::| in: [^\n]{1,200},) internal error\b",
        sample="ncclInternalError: Internal check failed.",
        explain="an internal check of NCCL failed: mostly ranks with different NCCL versions, or a topology that it cannot read",
        remedy="Compare `python -c 'import torch; print(torch.cuda.nccl.version())'` on all nodes, and run once with `NCCL_DEBUG=WARN`: the line before the error names the check.",
        versions="nccl",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bremote process exited or there was a network error\b|\bncclRemoteError\b",
        sample="torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:219, remote process exited or there was a network error, NCCL version 2.20.5",
        explain="another rank ended, or the network between the ranks failed",
        remedy="Look for the rank that failed first: its own log has the reason. If all ranks still ran, set `NCCL_SOCKET_IFNAME` to the interface that joins the nodes (`ip -br addr`).",
        versions="nccl",
        last_resort=True,
    ),
    Signature(
        pattern=NOT_CONNECTED,
        unless=rf"{WARNED}|{NO_IPV6}",
        sample="torch.distributed.DistNetworkError: The client socket has failed to connect to any network address of (node07, 29500).",
        explain=RENDEZVOUS,
        remedy=MEET,
        versions="torch",
        last_resort=True,
    ),
    Signature(
        pattern=rf"{WARNED}[^\n]{{0,200}}(?:{NOT_CONNECTED})",
        unless=NO_IPV6,
        sample="[W1123 10:00:00.1 socket.cpp:752] [c10d] The client socket has failed to connect to [node07]:29500 (errno: 113 - No route to host).",
        explain=RENDEZVOUS,
        remedy=MEET,
        versions="torch",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bNCCL WARN Call to (?P<call>ibv_\w{3,40}) failed(?: with error (?P<why>[A-Z][\w ]{3,60}))?",
        sample="gpu07:3211:3377 [0] misc/ibvwrap.cc:94 NCCL WARN Call to ibv_create_qp failed",
        explain="InfiniBand's call of {call}() failed",
        remedy="Cannot allocate memory: raise the limit of locked memory (`ulimit -l unlimited` on all nodes and in the container). Otherwise compare `ibv_devinfo` on the nodes; `NCCL_IB_DISABLE=1` shows whether InfiniBand is at fault.",
        versions="nccl",
        last_resort=True,
    ),
)
