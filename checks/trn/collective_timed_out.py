"""Ranks waited in a collective until its time limit.

## What it does
Finds the time-outs of NCCL and gloo, and of the start of a process group. If several ranks report, it names the rank
that is behind the others or that reports nothing.

## Why it breaks training
A collective ends when every rank has called it. One rank that died, hangs, or took another branch of the code keeps all
others waiting, by default for 10 to 30 minutes; then torch ends them all. The error therefore appears in the ranks that
are well.

## How to fix
Look at the rank that is behind: its last lines before the time-out hold the cause. Run again with
`TORCH_NCCL_TRACE_BUFFER_SIZE=2000` and `TORCH_NCCL_DUMP_ON_TIMEOUT=1` to have every rank's calls, or take stacks with
`py-spy dump` while it waits. Raise the limit only where one rank has more to do (saving, loading, long rollouts).

## Example
    [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88, OpType=ALLREDUCE, Timeout(ms)=600000)
"""

from skyrl_doctor.core.signature import Signature

FIND = "Look at the last lines of the rank that did not get there. Nothing there: run again with `TORCH_NCCL_TRACE_BUFFER_SIZE=2000` and `TORCH_NCCL_DUMP_ON_TIMEOUT=1`, or take stacks with `py-spy dump` while it waits."

SIGNATURES = (
    Signature(
        pattern=r"\bReceived a dump signal due to a collective timeout from {1,2}rank (?P<rank>\d{1,5})\b",
        sample="[rank0]:[E804 23:05:54.8 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID 0(default_pg) Rank 0] Received a dump signal due to a collective timeout from  rank 13 and we will try our best to dump the debug info.",
        explain="a collective of rank {rank} timed out: another rank died, hangs or took another path",
        remedy=f"The lines of rank {{rank}} name the operation. {FIND}",
        versions="torch >= 2.4",
        last_resort=True,
    ),
    Signature(
        pattern=r"\[(?:PG [^\]\n]{1,80} )?Rank (?P<rank>\d{1,5})\] {1,2}Watchdog caught collective operati(?:on timeout(?:: WorkNCCL\(SeqNum=(?P<seq>\d{1,12}), OpType=(?P<op>\w{1,40}),?.{0,120}?Timeout\(ms\)=(?P<limit>\d{1,12})\)(?: ran for (?P<ran>\d{1,12}) milliseconds)?)?|\b|$)",
        sample="[rank1]:[E115 10:00:00.0 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600013 milliseconds before timing out.",
        explain="rank {rank} waited {ran} ms (limit {limit} ms) for another rank in {op} number {seq}: that rank died, hangs or took another path",
        remedy=f"{FIND} Waited much longer than the limit: the processes were stopped, or a CUDA call hung; look at `dmesg` of the nodes (Xid){{slurm: and for a suspended job (`sacct -j JOB -o State`)|}}.",
        unless_above=r"\bA worker died or was killed while executing a task\b",  # the others wait for that worker
        versions="torch",
        last_resort=True,
    ),
    Signature(
        pattern=r"\b[Rr]ank (?P<rank>\d{1,5})\] ProcessGroupNCCL's watchdog got stuck for (?P<limit>\d{1,9}) seconds",
        sample="[rank7]:[E626 05:14:36.3 ProcessGroupNCCL.cpp:1743] [PG ID 0 PG GUID 0(default_pg) Rank 7] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives.",
        explain="a CUDA or NCCL call of rank {rank} did not return for {limit} s",
        remedy="Take stacks of that rank with `py-spy dump --native` while it hangs: mostly another thread holds the GIL inside a CUDA call, or another rank never entered the collective. `TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC` raises the limit where the call is only slow.",
        versions="torch >= 2.3",
        last_resort=True,
    ),
    Signature(
        pattern=r"Timed out waiting (?P<limit>\d{1,12})ms for (?:send|recv) operation to complete",
        sample="RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 1800000ms for recv operation to complete",
        explain="a rank waited {limit} ms for another rank in a collective (gloo): that rank died, hangs or took another path",
        remedy=FIND,
        versions="torch, gloo",
        last_resort=True,
    ),
    Signature(
        pattern=r"Timed out (?:initializing process group in store based barrier|after \d{1,6} seconds waiting for clients)(?:.{0,80}?\b(?P<joined>\d{1,5}/\d{1,5}) clients joined)?",
        sample="torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 2/4 clients joined.",
        explain="not all ranks joined the process group in time",
        remedy="Find the rank that did not start: its own log has the reason. If all started, they do not reach each other: compare MASTER_ADDR and MASTER_PORT on all nodes, and look for an older run that still holds the port.",
        versions="torch",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bDistStoreError: (?:Socket Timeout|wait timeout)|\bstore->get\(.{1,80} got error: (?:Socket Timeout|[Ww]ait timeout)|\bRendezvousTimeoutError\b|\bfailed to pass monitoredBarrier in (?P<limit>\d{1,12}) ?ms|^RuntimeError: Socket Timeout$",
        unless=r"\b(?:keep-alive heartbeat|shutdown the rendezvous)\b",  # of a node that goes on, or has ended before the others
        sample="torch.distributed.DistStoreError: Socket Timeout",
        explain="a rank waited for the others until the time limit, and at least one did not come",
        remedy="Look for the rank that failed or never started: its own log has the reason. If all run, `MASTER_ADDR` and `MASTER_PORT` must be reached from every node, and slow starts (compilation, downloads) need a longer timeout.",
        versions="torch",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bReceived a dump signal due to a collective timeout from this local rank\b|\bTerminating the process after attempting to dump debug info, due to collective timeout\b|\btimed out in blocking wait\b|\bWork ran time out after \d",
        sample="RuntimeError: Work ran time out after 600000 milliseconds",
        explain="a collective timed out: a rank died, hangs or took another path",
        remedy=FIND,
        versions="torch",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bDEADLINE_EXCEEDED: [^\n]{0,60}\b[Bb]arrier timed out\b|\bsuccessfully reached monitoredBarrier, but received errors\b|\bEI0002: [^\n]{0,80}\bNotify register times out|\bEI0006: [^\n]{0,80}\bGetting socket times out",
        sample="jax.errors.JaxRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: PjRT_Client_Connect::0.",
        explain="not all ranks came to a collective in time: a rank died, hangs or took another path",
        remedy="Look for the rank that failed or never came: its own log has the reason. If all run, each must reach the address of the first one, and slow starts (compilation, downloads) need a longer timeout (Ascend: `HCCL_EXEC_TIMEOUT`, `HCCL_CONNECT_TIMEOUT`).",
        versions="jax, torch, cann",
        last_resort=True,
    ),
)
