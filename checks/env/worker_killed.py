"""A Ray worker or node ended from outside, and no line has the reason.

## What it does
Finds Ray's reports that a worker died, that its connection closed, or that a node died. They are the cause only if no
other error of the logs explains the end.

## Why it breaks training
Ray sees only that the connection of the process closed ("connection error code 2", end of file). Such a process wrote
no Python exception: the kernel's out-of-memory killer, a crash (SIGSEGV) or `kill` ended it. The run ends with it.

## How to fix
Look at the node for the killer: `dmesg -T | grep -i -E "killed process|oom|segfault"`. Under Slurm,
`sacct -j JOB -o JobID,State,ExitCode,MaxRSS,ReqMem` shows OUT_OF_MEMORY or a MaxRSS near the request. The worker's own
log is in `/tmp/ray/session_latest/logs/worker-*PID*.err`, a node's in `raylet.out`.

## Example
    A worker died or was killed while executing a task by an unexpected system error.
"""

from skyrl_doctor.core.signature import Signature

LOOK = "Look at the node: `dmesg -T | grep -i -E 'killed process|oom|segfault'`. {slurm:`sacct -j JOB -o JobID,State,ExitCode,MaxRSS,ReqMem` shows whether the memory of the job was used up. |}The worker's own log is in `/tmp/ray/session_latest/logs/` (`worker-*PID*.err`, `python-core-worker-*PID*.log`). Out of memory: request more, or run fewer workers on the node."

ON_NODE = "On that node: `dmesg -T | grep -i -E 'killed process|oom'`, `uptime`, and `raylet.out` in `/tmp/ray/session_latest/logs/`; on the head node `gcs_server.out` in the same folder. If the node lives, the ports between the nodes must be open in both directions (Ray's are random unless `ray start` fixes them)."

SIGNATURES = (
    Signature(
        pattern=r"\bA worker died or was killed while executing a task by an unexpected system error\. To troubleshoot\b|\bWorker unexpectedly exits with a connection error code 2\b",
        sample="(raylet) A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the problem, check the logs for the dead worker.",
        explain="a Ray worker was ended without an exception: most often the host's out-of-memory killer or a crash, sometimes a kill from outside",
        remedy=LOOK,
        versions="ray",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bThe node (?:with node id: |\w{8,80}\b)[^\n]{0,300}\b(?:has been marked dead|died)\b",
        sample="The node with node id: 4a1f3c and address: 10.0.0.7 and node name: 10.0.0.7 has been marked dead because the detector has missed too many heartbeats from it.",
        explain="Ray lost a node: it restarted, its Ray processes were killed (most often out of memory), or the network to it failed",
        remedy=f"{ON_NODE} {{slurm:`sacct -j JOB -o JobID,State,NodeList,MaxRSS` shows NODE_FAIL or OUT_OF_MEMORY.|}}",
        versions="ray",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bWorker exit type: SYSTEM_ERROR\b|\b(?:The worker died unexpectedly while executing this task|The task's local raylet died)\b|\bbecause its worker process has died\b",
        sample="ray.exceptions.WorkerCrashedError: The worker died unexpectedly while executing this task. Check python-core-worker-*.log files for more information.",
        explain="a Ray worker ended without an exception: most often the host's out-of-memory killer or a crash, sometimes a kill from outside",
        remedy=LOOK,
        versions="ray",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bRaylet is terminated\. Termination is unexpected\b|\bFailed to connect to GCS within \d{1,6} seconds\. GCS may have been killed\b|\bThe actor (?:is dead|died) because its node has died\b|\bTask failed because the node it was running on is dead\b|\bTask failed due to the node (?P<node>\S{0,80} ?)dying\b",
        sample="Raylet is terminated. Termination is unexpected. Possible reasons include: (1) SIGKILL by the user or system OOM killer, (2) Invalid memory access from Raylet causing SIGSEGV or SIGBUS, (3) Other termination signals.",
        explain="the Ray processes of a node ended: they were killed (most often out of memory), the node restarted, or the network to it failed",
        remedy=f"{ON_NODE} {{slurm:`sacct -j JOB -o JobID,State,NodeList,MaxRSS` shows NODE_FAIL or OUT_OF_MEMORY.|}}",
        versions="ray",
        last_resort=True,
        passing=True,
    ),
)
