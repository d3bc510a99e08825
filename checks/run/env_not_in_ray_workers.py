"""Ray's workers will not have a variable that the rollouts need.

## What it does
Takes every variable of this job that its workers read (the runtime's address and key, logins, the configuration's
`[env]`), and checks how it gets there: from the environment in which Ray was started, which it reads from this job's
raylet if it already runs, or from `env_vars` of the runtime environment. It also finds values that are not strings,
there and in the configuration's `trainer.verl_overrides`.

## Why it breaks training
The driver has the variable, so everything looks correct. But the rollouts run in workers, which were started earlier
or on another node. They fail at their first sandbox, an hour after the start. Ray rejects a runtime environment that
contains a number at once.

## How to fix
Export the variable before `ray start`, or pass it: `+ray_kwargs.ray_init.runtime_env.env_vars.NAME=value`.
`skyrl-train` passes all variables that are not inherited, and its first task proves that it arrived.

## Example
    ValueError: remote_runtime_api_url is required in the remote runtime.
    KeyError: 'SANDBOX_REMOTE_RUNTIME_API_URL'
"""

from collections.abc import Iterator

from checks.vocabulary import LACK
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.ray_workers import RayWorkers
from skyrl_doctor.facts.worker_environ import plan_variables
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan, Value
from skyrl_doctor.plan.verl_overrides import OVERRIDES, verl_overrides
from skyrl_train.node.ray_env import Need, missing, needs

CAUSE = "a variable of the runtime is missing in Ray's workers; pass it in env_vars of Ray's runtime environment, or export it before Ray is started"

SIGNATURES = (
    Signature(
        pattern=r"\berror: RUN002: ",
        sample="skyrl-train train: error: RUN002: Ray's workers have no SANDBOX_API_KEY, which the sandboxes' runtime needs",
        explain="Ray's workers do not have a variable that the driver has; the line names it",
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"remote_runtime_api_url is required|API key is required to use the remote runtime",
        sample="ValueError: remote_runtime_api_url is required in the remote runtime.",
        explain=CAUSE,
        versions="OpenHands V0",
    ),
    Signature(
        pattern=r"KeyError: '(?:SANDBOX_\w+|ALLHANDS_\w+|RUNTIME_\w*(?:URL|KEY)|SKYRL_\w+)'",
        sample="KeyError: 'SANDBOX_REMOTE_RUNTIME_API_URL'",
        explain=CAUSE,
        versions="python",
    ),
    Signature(
        pattern=r"validation errors? for APIRemoteWorkspace",
        sample="pydantic_core._pydantic_core.ValidationError: 1 validation error for APIRemoteWorkspace",
        explain=CAUSE,
        versions="openhands-workspace",
    ),
    Signature(
        pattern=r"(?:SANDBOX_REMOTE_RUNTIME_\w+|ALLHANDS_API_KEY|SANDBOX_API_KEY|RUNTIME_API_(?:URL|KEY)|SKYRL_RUNTIME_\w+)\b.{0,60}(?:not set|is unset|missing|must be set|is required|not found in|not defined)|(?:environment variable|env var|[Mm]issing|[Uu]nset|set)\W{1,3}(?:SANDBOX_REMOTE_RUNTIME_\w+|ALLHANDS_API_KEY|RUNTIME_API_(?:URL|KEY))",
        sample="RuntimeError: SANDBOX_REMOTE_RUNTIME_API_URL is not set in this worker",
        explain=CAUSE,
        versions="any",
    ),
    Signature(
        pattern=r"runtime_api_(?:url|key).{0,40}(?:Field required|Input should be a valid string|is required|none is not an allowed)",
        sample="ValueError: runtime_api_url: Input should be a valid string",
        explain=CAUSE,
        versions="openhands-workspace",
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b(?:runtime|sandbox)[ _-](?:api[ _-])?(?:url|key)\b.{{0,40}}\b{LACK}|\b(?:no|missing) (?:runtime|sandbox)[ _-](?:api[ _-])?(?:url|key)\b",
    sample="RuntimeError: the runtime URL is not set in this worker",
    explain=CAUSE,
    versions="any",
)

PASSED = ("ray_kwargs.ray_init.runtime_env.env_vars.", "ray_init.runtime_env.env_vars.")


@check("RUN002", roles=[Role.GPU], fix="skyrl_train/node/ray_env.py")
def env_not_in_ray_workers(plan: Plan, environ: Environ, workers: RayWorkers) -> Iterator[Finding]:
    passed = _passed(required(plan))
    for value in passed.values():
        if not isinstance(value.value, str) and not value.unknown:
            yield _no_text(plan, value)
    configured = plan_variables(plan)
    if plan.is_of("run-config"):
        return  # skyrl-train hands on whatever is not inherited
    inherited = frozenset() if workers.names is None else workers.names
    for need in missing(needs(environ, configured), inherited=inherited, passed=passed):
        yield _lost(need, workers)


def _no_text(plan: Plan, value: Value) -> Finding:
    said = f"{value.assignment} is not a string, and Ray raises TypeError for it; expected"
    written = "" if value.value is None else str(value.value)
    written = written.lower() if isinstance(value.value, bool) else written
    if value.key in plan.own:
        return config_finding(f"{said} '\"{written}\"'", value.location, {value.name: f"'\"{written}\"'"})
    quoted = f"+{value.key}='{written}'"
    return config_finding(f"{said} '{written}'", value.location, summary=f"quote it in {OVERRIDES}: {quoted}")


def _passed(plan: Plan) -> dict[str, Value]:
    return {
        key.removeprefix(prefix): value
        for prefix in PASSED
        for key, value in {**plan.own, **verl_overrides(plan)}.items()
        if key.startswith(prefix) and (value.written or value.unknown)
    }


def _lost(need: Need, workers: RayWorkers) -> Finding:
    if workers.names is None:
        seen = f"the run joins {workers.of}, which this job did not start"
    else:
        seen = f"{workers.of} was started without it"
    return Finding(
        message=f"{need.name} is set here, but Ray's workers will not have it: {seen}; expected it there, because {need.why}",
        severity=Severity.ERROR if need.vital else Severity.WARNING,
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG,
            summary="pass it to the workers, or export it before Ray is started",
            settings={f"+{PASSED[0]}{need.name}": f"${need.name}"},
        ),
    )
