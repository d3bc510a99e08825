"""Lines that only follow from another failure. They are never the root cause, and have a name instead of an id."""

from skyrl_doctor.core.signature import Part, Signature

SIGNATURES = {
    "actor-died": (
        Signature(
            pattern=r"\b(?:ActorDiedError|RayActorError|ActorUnavailableError|OwnerDiedError|ObjectLostError|NodeDiedError|LocalRayletDiedError)\b|[Tt]he actor died (?:because|unexpectedly)|actor is dead because",
            sample="ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
            explain="a Ray worker died; that worker's own log has the reason",
            role=Part.CASCADE,
            versions="ray",
        ),
    ),
    "worker-died": (
        Signature(
            pattern=r"Worker (?:unexpectedly exits|exits? with|process .{0,40}died)|WorkerCrashedError|worker died or was killed",
            sample="(raylet) A worker died or was killed while executing a task by an unexpected system error.",
            explain="a Ray worker died",
            role=Part.CASCADE,
            versions="ray",
        ),
    ),
    "node-lost": (
        Signature(
            pattern=r"Health check failed for node \w{1,80}, remaining checks 0|death reason = UNEXPECTED_TERMINATION|\bRaylet is terminated\. Termination is unexpected|node with node id: \w{1,80} .{0,200}marked dead",
            sample="(gcs_server) gcs_node_manager.cc:734: , death reason = UNEXPECTED_TERMINATION, death message = health check failed due to missing too many heartbeats node_id=b84efd node_name=192.0.2.2",
            explain="Ray lost a node; that node's own logs have the reason",
            role=Part.CASCADE,
            versions="ray",
        ),
    ),
    "task-error": (
        Signature(
            pattern=r"\bray\.exceptions\.RayTaskError\b",
            sample="ray.exceptions.RayTaskError(RuntimeError): ray::TaskRunner.run()",
            explain="Ray repeats a worker's error in the driver",
            role=Part.CASCADE,
            versions="ray",
        ),
    ),
    "engine-core-dead": (
        Signature(
            pattern=r"EngineCore failed to start|Engine core initialization failed|\bEngineDeadError\b|EngineCore (?:encountered|died|proc)|Engine loop (?:is not running|has died)",
            sample="RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
            explain="vLLM's front end reports that its engine died",
            role=Part.CASCADE,
            versions="vllm",
        ),
    ),
    "request-refused": (
        Signature(
            pattern=r"\bError in preprocessing prompt inputs\b|^ERROR: {1,8}Exception in ASGI application$",
            sample="ERROR 03-02 04:01:14 [serving_chat.py:251] Error in preprocessing prompt inputs",
            explain="the model server refused a request; the exception below has the reason",
            role=Part.CASCADE,
            versions="vllm",
        ),
    ),
    "request-cancelled": (
        Signature(
            pattern=r"^ERROR: {1,8}Exception in ASGI application\r?$",
            near=r"\bINFO: {1,8}Shutting down\b",
            within=60,
            refines=("request-refused",),
            sample="ERROR:    Exception in ASGI application",
            explain="the model server cancelled a request while it shut down",
            role=Part.CASCADE,
            versions="uvicorn",
        ),
    ),
    "worker-proc-failed": (
        Signature(
            pattern=r"WorkerProc (?:failed to start|initialization failed|hit an exception)|Worker failed with error|Executor failed\b|Engine process failed to start|Background loop (?:has errored|is stopped)|AsyncLLMEngine has failed|\bMQEngineDeadError\b",
            sample="Exception: WorkerProc initialization failed due to an exception in a background process. See stack trace for root cause.",
            explain="a vLLM worker died",
            role=Part.CASCADE,
            versions="vllm",
        ),
    ),
    "inspection-failed": (
        Signature(
            pattern=r"Model architectures .{0,120}failed to be inspected",
            sample="Value error, Model architectures ['Qwen2ForCausalLM'] failed to be inspected. Please check the logs for more details.",
            explain="vLLM's inspection process died; the lines above have the reason",
            role=Part.CASCADE,
            versions="vllm",
        ),
    ),
    "nccl": (
        Signature(
            pattern=r"Watchdog caught collective operation timeout|\bDistBackendError\b|NCCL communicator was aborted|ncclRemoteError|ncclSystemError|ProcessGroupNCCL.{0,200}(?:[Tt]imeout|terminat)|Connection closed by (?:remote )?peer|ncclInternalError|Some NCCL operations have failed or timed out|\bDistNetworkError\b|recvValue failed|\bTCPStore\b.{0,200}(?:[Tt]ime|fail|[Bb]roken|reset)",
            sample="[rank1]:[E115 10:00:00.0 ProcessGroupNCCL.cpp:2068] [PG ID 0 PG GUID 0 Rank 1] NCCL communicator was aborted on rank 1.",
            unless=r"\bRayTaskError\(|\bunhandled cuda error\b",
            explain="other ranks waited for one that died",
            role=Part.CASCADE,
            versions="torch",
        ),
    ),
    "connection-lost": (
        Signature(
            pattern=r"Connection refused|ConnectionRefusedError|Connection reset by peer|All connection attempts failed|\bConnectError\b|RemoteProtocolError|ServerDisconnectedError|Max retries exceeded",
            sample="httpx.ConnectError: All connection attempts failed",
            explain="the other end of the connection is gone",
            role=Part.CASCADE,
            versions="httpx, requests",
        ),
    ),
    "command-failed": (
        Signature(
            pattern=r"\bCalledProcessError\b|ChildFailedError|\bProcess(?:Exited|Raised)Exception\b|\bSignalException\b|returned non-zero exit status|exit(?:ed|s)? with (?:exit )?(?:code|status) [1-9]",
            sample="subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/x/main.c']' returned non-zero exit status 1.",
            explain="a command failed; its own output has the reason",
            role=Part.CASCADE,
            versions="python",
        ),
    ),
    "task-exited": (
        Signature(
            pattern=r"\bsrun: error: (?P<host>\S{1,80}): tasks? (?P<tasks>[\d,\-\[\]]{1,40}): Exited with exit code (?P<code>\d{1,3})",
            sample="srun: error: gpu07: task 0: Exited with exit code 1",
            explain="srun reports that task {tasks} on {host} ended with exit code {code}",
            role=Part.CASCADE,
            versions="slurm",
        ),
    ),
    "killed": (
        Signature(
            pattern=r"Exiting due to|^Exited with exit code|\bsrun: error: .{0,80}task.{0,60}: (?!Exited with)[A-Z]\w|Job step aborted|SIGTERM|Terminated\b(?! at \w{3} \w{3} )",
            sample="srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
            explain="the processes of the job were ended",
            role=Part.CASCADE,
            versions="slurm",
        ),
    ),
    "generation-failed": (
        Signature(
            pattern=r"RPC call to \w+ timed out|Request \S+ failed\b|\bAsyncEngineDeadError\b",
            sample="TimeoutError: RPC call to sample_tokens timed out.",
            explain="a request waited for a process that died",
            role=Part.CASCADE,
            versions="vllm",
        ),
    ),
    "cancelled": (
        Signature(
            pattern=r"\bSTEP \S{1,40} ON \S{1,200} CANCELLED AT\b|\bCANCELLED \+",
            sample="slurmstepd: error: *** STEP 4711+0.0 ON gpu07 CANCELLED AT 2026-01-15T16:00:12 ***",
            explain="Slurm ended a step of the job",
            role=Part.CASCADE,
            versions="slurm",
        ),
    ),
    "told-to-exit": (
        Signature(
            pattern=r"(?:^|\W)SystemExit: \d",
            sample="SystemExit: 1",
            explain="Ray stopped a worker while it waited",
            role=Part.CASCADE,
            versions="ray",
            near=r"raise_sys_exit_with_custom_error_message",
            within=4,
        ),
    ),
}
