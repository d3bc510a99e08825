"""The sandbox runtime died during the run.

## What it does
`skyrl-doctor diagnose` and `watch` find the messages of `skyrl-train` about it. The trainer's job asks the runtime
every few seconds. No check can see it before the job.

## Why it breaks training
Without the runtime no rollout can end. `skyrl-train` therefore ends the trainer, so that it does not hold its GPUs
for nothing.

## How to fix
Read the end of the runtime's log. If it has no error, ask Slurm: `sacct -j JOB --format=State,ExitCode,MaxRSS`.
`OUT_OF_MEMORY` means that the runtime's job needs more memory (ENV007), `TIMEOUT` that its time limit is too short
(SLM001).

## Example
    skyrl-train job: trainer: the runtime job ended: the runtime was killed by signal 9
"""

from checks.vocabulary import NO_ANSWER
from skyrl_doctor.core.signature import Signature

CAUSE = "the sandbox runtime died while the trainer needed it; read its log or `sacct -j JOB --format=State,ExitCode,MaxRSS`"

GONE = "the sandbox of a rollout ended while the agent used it"
LOOK = "The log of the container has the reason (`docker logs`, `podman logs`, the page of the provider): out of memory (exit status 137), a limit of its life time, or a crash of its server. If all sandboxes end, look at the runtime and its node."

SIGNATURES = (
    Signature(
        pattern=r"skyrl-train job: runtime: the runtime (?:(?:ended with|exited with status) [1-9]|was killed by signal \d)",
        sample="skyrl-train job: runtime: the runtime was killed by signal 9",
        explain=CAUSE,
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"skyrl-train job: trainer: (?:stopped by signal \d+: )?the runtime job (?:ended(?: before it was ready)?: (?!done|the gate|stopped|the program|the trainer job)|\d+ (?:is |ended without a report(?!: JobState=(?:NODE_FAIL|PREEMPTED|TIMEOUT|OUT_OF_MEMORY|CANCELLED))))",
        sample="skyrl-train job: trainer: the runtime job ended: the runtime was killed by signal 9",
        explain=CAUSE,
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"\bfailed runtime_id=\S{1,100} (?:session_id=\S{1,200} )?cause=\"?(?P<cause>[^\"\n\\]{1,160})[^\n]{0,1500}",
        sample='2026-11-27 16:34:04,487 INFO failed runtime_id=skyrl-3adf1089727623e2 session_id=skyrl-93d93a46 cause="not started in 3 attempts; container created"',
        explain="the sandbox runtime could not start or keep a sandbox: {cause}",
        remedy="The line has the reason. On the runtime's node run `skyrl-doctor preflight --role runtime`, and start the image by hand in the job's own store: `eval \"$(skyrl-doctor env --shell --role runtime)\"; podman run --rm IMAGE true`.",
        versions="skyrl-train",
        fatal=False,
        last_resort=True,
    ),
    Signature(
        pattern=r"the runtime at https?://\S{1,200} has not answered for \d+ s",
        sample="skyrl-train job: trainer: the runtime at http://node07:8000 has not answered for 18 s",
        explain=CAUSE,
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"\bAgentRuntime(?:Disconnected|NotFound)Error: (?:Container \S{1,200} (?:has exited|not found)|Server (?:process (?:died|not found)|connection lost)|Failed to connect to runtime|Runtime is (?:temporarily unavailable|not responding|paused)|\d{3} error while connecting)",
        sample="openhands.core.exceptions.AgentRuntimeDisconnectedError: Container openhands-runtime-7f1c has exited.",
        explain=GONE,
        remedy=LOOK,
        versions="openhands",
        last_resort=True,
    ),
    Signature(
        pattern=NO_ANSWER,
        near=r"[/.](?:openhands/(?:runtime|workspace|sdk/workspace|sdk/conversation/impl/remote\w{0,20})|swerex/(?:runtime|deployment)|(?:modal|e2b\w{0,20}|daytona\w{0,20})/(?:\w{1,30}/){0,3}_?sandbox\w{0,20})[/.]",
        within=60,
        sample="httpx.RemoteProtocolError: Server disconnected without sending a response.",
        explain="the server in a sandbox closed the connection without an answer, or gave none in time",
        remedy=LOOK,
        versions="requests, httpx, aiohttp",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bAgentRuntimeUnavailableError: Runtime (?:crashed|is unavailable \(status: )|\b[Rr]untime (?:\(ID=[^)]{1,80}\) )?(?:is unavailable|failed) \(status: (?:failed|unknown|crashloopbackoff)\)|\bRuntimeError: Container (?:process terminated|stopped unexpectedly)\b",
        sample="openhands.core.exceptions.AgentRuntimeUnavailableError: Runtime crashed and is being restarted, potentially due to memory usage. Please try again.",
        explain=GONE,
        remedy=LOOK,
        versions="openhands, swe-rex",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bSandboxTerminatedError\b|\bmodal\.exception\.SandboxTimeoutError\b|\be2b\.exceptions\.NotFoundException: (?i:the )?sandbox|\bfailed to resolve container IP\b|\bno IP address found\. Is the [Ss]andbox started\b|\bswerex\.exceptions\.DeploymentNotStartedError\b|\bNotFoundError: Sandbox has already shut down\b|\bThe sandbox was not found: This error is likely due to sandbox timeout\b|\bSandboxNotFoundException\b|\bDaytona\w{0,20}Error: [^\n]{0,80}[Ss]andbox is not running\b",
        sample="e2b.exceptions.TimeoutException: The sandbox was not found: This error is likely due to sandbox timeout. You can modify the sandbox timeout by passing 'timeout' when starting the sandbox",
        explain=GONE,
        remedy="A sandbox of a provider lives for a limited time: raise the timeout with which it is created above the longest rollout, or look at the provider's page for its end.",
        versions="e2b, modal, daytona",
        last_resort=True,
    ),
    Signature(
        pattern=r"\b409 Client Error[^\n]{1,200}/containers/\S{1,80}/exec: Conflict \([^\n]{0,20}[Cc]ontainer \S{1,100} is not running\b",
        sample="docker.errors.APIError: 409 Client Error for http+docker://localhost/v1.47/containers/ab/exec: Conflict (container ab is not running)",
        explain=GONE,
        remedy=LOOK,
        versions="docker",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bcan only create exec sessions on running containers\b|\bcannot exec in a stopped container\b|\bError response from daemon: [Cc]ontainer \S{1,100} is not running",
        near=r"(?i:sandbox|rollout|trajector|swe-?bench|\bagent)",  # else a container of something else
        within=200,
        sample="Error: can only create exec sessions on running containers: container state improper",
        explain=GONE,
        remedy=LOOK,
        versions="podman, docker, runc",
        last_resort=True,
    ),
)
