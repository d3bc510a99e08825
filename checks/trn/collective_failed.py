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
NOT_CONNECTED = r"\bclient socket has (?:failed to connect|timed out)\b[^\n]{0,160}|\bGloo connectFullMesh failed\b|\bThe connection to the C10d store has failed\b|\bDistNetworkError: The IPv[46] network addresses of [^\n]{1,120} cannot be retrieved\b"
RENDEZVOUS = "a rank could not connect to the others: the address of the rendezvous, or an interface, is not reached"
MEET = "`MASTER_ADDR` and `MASTER_PORT` must name a node and port that all nodes reach (`nc -vz HOST PORT`), and rank 0 must run. Gloo: set `GLOO_SOCKET_IFNAME` to the interface that joins the nodes (`ip -br addr`)."
CALL_CAUSE = "a CUDA call of NCCL failed: {why}"
CALL_FAILED = "Invalid argument or an operation that is not supported: compare the driver with the CUDA of torch, and NCCL (`nvidia-smi`, `python -c 'import torch; print(torch.version.cuda, torch.cuda.nccl.version())'`); run once with `NCCL_NVLS_ENABLE=0` and once with `NCCL_CUMEM_ENABLE=0`, which show whether a newer feature is at fault. Invalid device: give each rank its own GPU. An error of a kernel that ran before shows here too: run once with `CUDA_LAUNCH_BLOCKING=1`."
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
        pattern=r"\bBootstrap Root : (?:rank (?P<rank>\d{1,6}) of (?P<of>\d{1,6}) ranks has already checked in|mismatch in (?:rank count|info) from procs,?(?: nranks)? (?P<one>\d{1,6}) (?::|vs) (?P<other>\d{1,6}))",
        sample="gpu07:8569:8835 [0] bootstrap.cc:131 NCCL WARN Bootstrap Root : rank 1 of 8 ranks has already checked in",
        explain="the processes disagree about their ranks: two have the same rank, or they expect different numbers of ranks",
        remedy="Compare `RANK`, `WORLD_SIZE` and `MASTER_PORT` of all processes: the launcher's number of nodes and of processes on each must be that of the job, and no older run may use the same port.",
        versions="nccl",
    ),
    Signature(
        pattern=r"\bNCCL WARN (?P<call>nvml\w{1,60})(?:\(\))? failed: (?P<why>[A-Z][\w ]{2,60})",
        sample="gpu07:301:301 [0] misc/nvmlwrap.cc:187 NCCL WARN nvmlDeviceGetHandleByPciBusId() failed: Not Found",
        explain="NCCL could not ask the driver about a GPU: `{call}` failed with {why}",
        remedy="`nvidia-smi -L` in the same container must list the GPU of each rank. Show all GPUs of the node to all ranks of it, and let each process choose its own; under WSL and in some virtual machines the driver does not answer this: use one GPU there.",
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
        pattern=r"\bncclInternalError\b|\bNCCL error(?::| in: [^\n]{1,200},) internal error\b|\bNCCL Error 3: internal error\b",
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
    Signature(
        pattern=r"\bC(?:uda|UDA) failure (?:802 )?'system not yet initialized'",
        sample="Cuda failure 802 'system not yet initialized'",
        explain="CUDA error 802: the GPUs of this node are not joined by NVSwitch yet",
        remedy="On the node, as administrator: `systemctl status nvidia-fabricmanager`, then start it, in exactly the version of the driver (`nvidia-smi`). From Hopper on, `nvidia-smi -q | grep -A3 Fabric` then prints Completed. In a virtual machine all GPUs of an NVSwitch group must belong to it.",
        versions="cuda",
    ),
    Signature(
        pattern=r"\bNCCL WARN C(?:uda|UDA) failure (?:\d{1,5} )?'(?P<why>[^'\n]{3,120})'",
        sample="gpu07:3211:3377 [1] include/alloc.h:102 NCCL WARN Cuda failure 1 'invalid argument'",
        explain=CALL_CAUSE,
        remedy=CALL_FAILED,
        versions="nccl",
        unless="out of memory",
        last_resort=True,
    ),
    Signature(
        pattern=r"^\s{0,8}(?:Last error: ?)?C(?:uda|UDA) failure (?:\d{1,5} )?'(?P<why>[^'\n]{3,120})'",
        sample="Cuda failure 1 'invalid argument'",
        explain=CALL_CAUSE,
        remedy=CALL_FAILED,
        versions="nccl",
        near=r"\bunhandled cuda error\b|\bncclUnhandledCudaError\b",
        within=4,
        unless="out of memory",
        refines=("TRN009",),
        last_resort=True,
    ),
    Signature(
        pattern=r"^(?:[\w.\[\]-]{1,60}: ){0,3}(?:Last error: ?)?Failed to (?:CUDA|Cuda) (?P<kind>(?:host )?(?:calloc|malloc|alloc)(?: async)?) (?P<size>\d{1,15}) bytes",
        sample="Failed to CUDA calloc async 4 bytes",
        explain="NCCL got no {size} bytes on its GPU when the ranks joined: the memory is full, or CUDA refused the device",
        remedy="`nvidia-smi` on that node shows who holds the memory, and `CUDA error` or `not compatible` above shows whether torch supports the GPU. Each rank needs its own device: `torch.cuda.set_device(local_rank)` before the process group is made. `NCCL_DEBUG=INFO` prints CUDA's reason.",
        versions="nccl",
        refines=("MEM001",),
    ),
    Signature(
        pattern=r"\b(?:C(?:uda|UDA)|HIP) failure (?:\d{1,5} )?'out of memory'|\bNCCL WARN (?:Failed to (?:CUDA|Cuda) (?:host )?(?:calloc|malloc|alloc)|Cuda (?:calloc|malloc) failed)\b",
        sample="Cuda failure 2 'out of memory'",
        explain="NCCL found no free GPU memory for its buffers when the ranks joined",
        remedy="`nvidia-smi` on that node shows who holds the memory: another process or an earlier run (end it), all ranks on GPU 0 (`torch.cuda.set_device(local_rank)` before the process group is made), or the model that was loaded before. Leave some GiB free: lower `{key:rollout.gpu_memory_utilization}`.",
        keys=("rollout.gpu_memory_utilization",),
        versions="nccl, rccl",
        refines=("MEM001",),
    ),
    Signature(
        pattern=r"\bNCCL WARN (?:Bootstrap : no socket interface found|NET/Socket : (?:no|No usable listening) interface found|NET/IB : No IP interface found)",
        sample="gpu07:3211:3377 [0] bootstrap.cc:107 NCCL WARN Bootstrap : no socket interface found",
        explain="NCCL found no network interface that it may use",
        remedy="`ip -br addr` lists the interfaces of the node: `NCCL_SOCKET_IFNAME` must name one of them on every node, or be unset.",
        versions="nccl",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bNCCL WARN (?:Mismatched NCCL version detected|NCCL version mismatch with remote peer)\b",
        sample="gpu07:3211:3377 [0] init.cc:700 NCCL WARN Mismatched NCCL version detected : rank 1 version 22304 rank 0 version 22705",
        explain="the ranks run different versions of NCCL",
        remedy="Compare `python -c 'import torch; print(torch.cuda.nccl.version())'` on all nodes, and what `LD_LIBRARY_PATH` and `LD_PRELOAD` name there: all ranks need one environment.",
        versions="nccl",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bNCCL WARN NET/IB ?: ?(?:Got completion (?:from peer (?P<address>\S{3,80}?)(?:<\d{1,5}>)? )?with (?:status|error)[= ](?P<why>\w{1,40})|\S{1,60} async fatal event\b)|\bmlx5: \S{1,80}: got completion with error:|\bib_mlx5_log\.c:\d{1,5} {1,4}(?:UCX {1,4}(?:ERROR|FATAL) {1,4})?(?:Transport retry count exceeded|RNR retry count exceeded|Remote (?:access|operation|invalid request)|Local (?:length|protection|QP operation))\b",
        sample="gpu07:3211:3377 [0] transport/net_ib.cc:2040 NCCL WARN NET/IB: Got completion from peer 10.0.0.8<41000> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129 (Recv) hca mlx5_0",
        explain="a transfer over InfiniBand failed",
        remedy="Look first for a rank that failed before: the others lose their connection to it. Status 12 (retry exceeded): the other node is not reached; compare `ibv_devinfo` and `ibstat` on the nodes, and on RoCE `NCCL_IB_GID_INDEX`. `NCCL_IB_DISABLE=1` shows whether InfiniBand is at fault.",
        versions="nccl",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bNCCL WARN (?:NET/Socket : peer \S{1,80} m|M)essage truncated : receiv(?:ed|ing) (?P<got>\d{1,12})(?:,\d{1,12})? bytes instead of (?P<size>\d{1,12})",
        sample="gpu07:3211:3377 [0] bootstrap.cc:90 NCCL WARN Message truncated : received 2048 bytes instead of 1024",
        explain="a rank got {got} bytes and expected {size}: the ranks disagree",
        remedy="All ranks must call the same collectives with the same sizes, and have the same NCCL and the same `NCCL_*` variables. A foreign program on the port of NCCL causes it too.",
        versions="nccl",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bNCCL WARN (?P<what>No transport found for rank|Failed to bind NVLink SHARP|MNNVL \(cliqueSize \d{1,4}\) is available but not working|Call to (?:posix_fallocate failed|ibv_\w{3,40}(?:\(\))? returned)|NET/OFI Request completed with error|Error: corrupted comm object detected|GIN Error detected|Proxy Call to rank \d{1,6} failed)[^\n]{0,160}",
        sample="gpu07:3211:3377 [0] transport.cc:103 NCCL WARN No transport found for rank 0[3b000] -> rank 1[86000]",
        explain="NCCL failed: {what}",
        remedy="Run once with `NCCL_DEBUG=INFO` and compare the nodes. posix_fallocate: /dev/shm is full or too small (`df -h /dev/shm`). NVLink SHARP: `NCCL_NVLS_ENABLE=0` does without it. MNNVL: `NCCL_MNNVL_ENABLE=0`. A network plugin: `NCCL_NET_PLUGIN=none`.",
        versions="nccl",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bncclInvalid(?:Usage|Argument)\b|\bNCCL error(?::| in: [^\n]{1,200},) invalid (?:usage|argument)\b|\bNCCL Error [45]: invalid (?:usage|argument)\b",
        sample="torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1691, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.21.5",
        explain="NCCL was used in a way that it does not allow: mostly two ranks on one GPU",
        remedy="Run once with `NCCL_DEBUG=WARN`: the line before the error has the reason. Give each rank a GPU of its own (`torch.cuda.set_device(local_rank)`, `CUDA_VISIBLE_DEVICES`).",
        versions="nccl",
        last_resort=True,
        passing=True,  # a line that names the reason goes before it
    ),
    Signature(
        pattern=r"\bRuntimeError: Connection closed by peer \[|\bgloo/transport/\w{1,20}/pair\.cc:\d{1,5}\] (?:Connection closed by peer|(?:Read|Write|writev|readv)\b[^\n]{0,80}(?:Connection reset by peer|Broken pipe))",
        sample="RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.8]:41231",
        explain="another rank ended while this one waited for it (gloo)",
        remedy="Look for the rank that failed first: its own log has the reason.",
        versions="torch, gloo",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bgloo/transport/\w{1,20}/device\.cc:\d{1,5}\][^\n]{0,80}\bUnable to find (?:address|interface) for: ?(?P<interface>\S{1,60})",
        sample="RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/device.cc:83] ifa != nullptr. Unable to find address for: eth9",
        explain="gloo must use the interface {interface}, which this node does not have",
        remedy="`ip -br addr` lists the interfaces: `GLOO_SOCKET_IFNAME` must name one that each node has, or be unset. If it is unset, the node's own name must resolve to one of its addresses (`getent hosts $(hostname)`).",
        versions="torch, gloo",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bDistNetworkError: (?:[Ff]ailed to recv, got \d|Connection reset by peer|Broken pipe)|\bThis may indicate a possible application crash on rank 0\b",
        sample="torch.distributed.DistNetworkError: failed to recv, got 0 bytes",
        explain="the rank that holds the store of torch.distributed (mostly rank 0) ended",
        remedy="Look for the rank that failed first: the log of rank 0 has the reason.",
        versions="torch",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bHCCL function error: (?P<call>\w{3,60})\([^\n]{0,200}\berror code is (?P<code>\d{1,6})",
        sample="HCCL function error: HcclGetRootInfo(&hcclID), error code is 7",
        explain="HCCL's call of {call} failed (error code {code}): mostly ranks that do not reach each other, or an NPU that another process holds",
        remedy="The lines with `EI` below it have the reason. Compare `npu-smi info`, `hccn_tool -i 0 -link -g` and the versions of CANN on the nodes; `HCCL_IF_IP` and `HCCL_SOCKET_IFNAME` must name an address that the other nodes reach.",
        versions="torch-npu",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bDetected mismatch between collectives on ranks\b",
        sample="RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=10, OpType=ALLREDUCE), but Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=10, OpType=BROADCAST).",
        explain="the ranks call different collectives, or the same one with different sizes",
        remedy="The line names both: a branch of the code depends on the rank, on its data or on an error that one rank caught. All ranks must take the same path.",
        versions="torch",
        last_resort=True,
    ),
    Signature(
        pattern=r"(?:^|\bNCCL WARN |[\]:>|] |Last error: ?)(?P<what>Failed to initialize any NET plugin)\b",
        sample="gpu07:3211:3377 [0] init.cc:1803 NCCL WARN Failed to initialize any NET plugin",
        explain="NCCL has no network: `NCCL_NET` or `NCCL_NET_PLUGIN` asks for one that it cannot load or that finds no device",
        remedy="`env | grep NCCL_NET` in the job shows what is asked for: a plugin needs its directory on `LD_LIBRARY_PATH` in the container too, and must suit this version of NCCL; `IB` needs the devices in the container (`/dev/infiniband`). On one node `NCCL_NET=Socket` is enough; unset both, and NCCL chooses. `NCCL_DEBUG=INFO` names what failed to load.",
        versions="nccl >= 2.26",
        last_resort=True,
    ),
)
