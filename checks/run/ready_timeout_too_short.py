"""The sandbox start-up timeout is shorter than a first start takes.

## What it does
Adds up the slowest first start: the start itself, a pull if images are not in the store, and a build if the agent
server is built into them. Compares the sum with `sandbox.ready_timeout_s`.

## Why it breaks training
A runtime that gives up while an image is still being built loses every rollout of the first step, and the build too:
the next attempt starts again. A limit of 60 s is too short for builds of two to five minutes.

## How to fix
Raise the limit, or pull and build the images before the job (`skyrl-train images`).

## Example
    Runtime slurm-37564a5a3dca failed to become ready within 60s
"""

from collections.abc import Iterator

from checks.img.shared import inject_of
from checks.vocabulary import NO_ANSWER, SANDBOX
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.plan.findings import finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.agent_server import REPOSITORY
from skyrl_train.contracts.sandbox.ready import KEY, ready_violations

CAUSE = "the start-up timeout is shorter than the first start of an image; raise it or prepare the images"
SILENT = "the server in the sandbox did not answer while the client waited for its start"
WAITED = "`docker logs` (`podman logs`) of the sandbox's container has the reason: its server was still starting, or ended (exit status 137: out of memory). Start fewer sandboxes at once, build the images before the run, and raise the start-up timeout."

SIGNATURES = (
    Signature(
        pattern=r"\bRetryError\[",
        sample="tenacity.RetryError: RetryError[<Future at 0x7f2a state=finished raised RuntimeError>]",
        explain=CAUSE,
        versions="openhands-workspace",
        near=r"Runtime not yet ready \(status: (?:pending|not found|building)\)",
        within=60,
    ),
    Signature(
        pattern=r"[Tt]ime(?:d ?)?out (?:while )?waiting for (?:the |a )?(?:remote )?(?:runtime|sandbox)\b|(?:[Rr]untime|[Ss]andbox) did not (?:start|come up|get ready) (?:within|in|after) \d",
        sample="TimeoutError: Timeout waiting for runtime to be ready after 300 seconds",
        explain=CAUSE,
        versions="any",
    ),
    Signature(
        pattern=r"[Rr]untime \S+ failed to become ready within",
        sample="Runtime slurm-37564a5a3dca failed to become ready within 60s",
        explain=CAUSE,
        versions="runtime server",
    ),
    Signature(
        pattern=r"\bAgentRuntimeTimeoutError\b|(?:[Rr]untime|[Ss]andbox) (?:\S{1,80} )?(?:did not become|was not|is still not|never became) (?:ready|healthy) (?:within|after|in)|\b[Cc]ontainer (?:failed to|did not) become healthy (?:in time\b|within \d)|\bSandbox failed to start (?:within|in|after) \d|[Tt]imed out (?:while )?waiting for (?:the )?(?:remote )?runtime",
        sample="openhands.core.exceptions.AgentRuntimeTimeoutError: Runtime (ID=ab12) did not become ready within 120 seconds",
        explain=CAUSE,
        versions="openhands",
    ),
    Signature(
        pattern=r"[Rr]untime (?:\S{1,80} )?(?:failed|did not manage) to (?:become|get) ready (?:in|within|after) \d|\bAgentRuntimeNotReadyError\b",
        sample="TimeoutError: Runtime failed to become ready in 600 s",
        explain=CAUSE,
        versions="openhands",
    ),
    Signature(
        pattern=r"Runtime not yet ready \(status: (?:pending|not found|building)\)|is not yet ready\. Status: (?:pending|building|starting)",
        sample="Runtime not yet ready (status: pending)",
        explain=CAUSE,
        versions="openhands-workspace",
        at_least=8,
        fatal=False,
    ),
    Signature(
        pattern=r"\bDeploymentStartupError: |\bRuntime did not start within timeout\b|\bPod \S{1,100} exists but failed to become ready\b|\b[Ss]andbox failed to become ready within\b|\bFailed to create sandbox: Function '\w{1,40}' exceeded timeout\b",
        sample="openhands.core.exceptions.AgentRuntimeDisconnectedError: Pod openhands-runtime-x exists but failed to become ready.",
        explain=CAUSE,
        versions="swe-rex, openhands, daytona",
    ),
    Signature(
        pattern=NO_ANSWER,
        near=r"\bin _?(?:wait_until_alive|check_if_alive|wait_until_ready|wait_for_(?:health|ready|runtime|server|sandbox|client)\w{0,20})\b",
        within=60,
        sample="requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
        explain=SILENT,
        remedy=WAITED,
        versions="requests, httpx, aiohttp",
        refines=("RUN011",),
    ),
    Signature(
        pattern=r"\bError in instance \[[^\]\n]{1,120}\]: [^\n]{0,80}\b(?:RemoteDisconnected|RemoteProtocolError|ReadTimeout|ConnectTimeout|ConnectError|ConnectionError|[Cc]onnection refused|Read timed out)\b",
        near=r"\bWaiting for client to become ready at http",
        within=8,
        sample="Error in instance [astropy__astropy-1]: RetryError[<Future at 0x7f3c state=finished raised RemoteProtocolError>]. Stacktrace:",
        explain=SILENT,
        remedy=WAITED,
        versions="openhands",
        refines=("RUN011",),
    ),
    Signature(
        pattern=r"\bEnvironment(?:Start|Build)TimeoutError\b|\bEnvironment (?:start|build) timed out after (?P<limit>[\d.]{1,8})",
        sample="harbor.trial.trial.EnvironmentStartTimeoutError: Environment start timed out after 600.0 seconds",
        explain="the sandbox of a task was not built or started within its time",
        remedy="Build or pull the images before the run, or raise the limit: `build_timeout_sec` of the task's `task.toml`, or Harbor's `--environment-build-timeout-multiplier`. Fewer tasks at once (`--n-concurrent`) build faster.",
        versions="harbor, terminal-bench",
        last_resort=True,
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b{SANDBOX}\b.{{0,80}}\bnot (?:yet )?(?:ready|healthy|up|started) (?:after|within|in) \d|\b{SANDBOX}\b.{{0,80}}\b(?:timed out|gave up|took too long)\b.{{0,60}}(?:ready|start|build|pull)|\b(?:timed out|gave up)\b.{{0,40}}\b{SANDBOX}\b.{{0,40}}(?:ready|start|come up)",
    sample="TimeoutError: sandbox sb-12 not ready after 600s (image still building)",
    explain=CAUSE,
    versions="any",
    unless=r"(?i:\bcommands?\b|\btests?\b|\btool\b|evaluat)",
)


@check("RUN003", fix="skyrl_train/contracts/sandbox/ready.py")
def ready_timeout_too_short(plan: Plan, stored: StoredImages | None) -> Iterator[Finding]:
    limit_s = required(plan).number(KEY)
    if limit_s is None:
        raise NotApplicable("the configuration sets no start-up timeout for sandboxes")
    derived = stored is not None and any(name.startswith(f"{REPOSITORY}:") for name in stored.all_names)
    built = inject_of(plan) == "build" and not derived
    absent = stored is None or not stored.of_dataset or bool(stored.absent)
    for violation in ready_violations(limit_s=limit_s, absent=absent, built=built):
        yield finding(plan, violation)
