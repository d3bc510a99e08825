"""The agent server listens only on the loopback of its container.

## What it does
Checks whether a running runtime accepts requests with a wrong key, because such a runtime gives its agent servers no
key. If test sandboxes were started (`--role runtime` with a running runtime), checks that they are reachable.

## Why it breaks training
Since 1.38 the agent server listens on 127.0.0.1 of its container unless it has a session key or the option `--host`.
Clients set neither. In a runtime without keys its health check passes inside the container, but every client gets
"connection refused".

## How to fix
Run with keys: `skyrl-train runtime serve` gives each sandbox its own key and sets the address too. For another
runtime set `OH_SESSION_API_KEYS_0` in the sandbox, or append `--host 0.0.0.0` to its command.

## Example
    Uvicorn running on http://127.0.0.1:60000
"""

from collections.abc import Iterator

from checks.img.shared import inject_of
from checks.vocabulary import SANDBOX
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.runtime import Canary, RuntimeAnswers
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.agent_server import LOOPBACK_SINCE, render_version
from skyrl_train.contracts.sandboxd_api import SESSION_KEY_VARIABLES

CAUSE = "the agent server listens only inside its container; give it a session key or `--host 0.0.0.0`"

SIGNATURES = (
    Signature(
        pattern=r"Uvicorn running on http://(?:127\.0\.0\.1|localhost):60\d\d\d\b",
        sample="INFO:     Uvicorn running on http://127.0.0.1:60000 (Press CTRL+C to quit)",
        explain=CAUSE,
        versions="openhands-agent-server >= 1.38",
    ),
    Signature(
        pattern=r"(?:[Aa]gent[ -_][Ss]erver|openhands).{0,80}(?:listening|running|bound|binding|[Ss]tarting).{0,40}(?:127\.0\.0\.1|localhost):\d{4,5}\b",
        sample="openhands-agent-server: listening on 127.0.0.1:60000, no session key is set",
        explain=CAUSE,
        versions="openhands-agent-server >= 1.38",
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b{SANDBOX}\b.{{0,60}}\b(?:listens?|listening|bound|binds)\b.{{0,40}}(?:127\.0\.0\.1|localhost|loopback)",
    sample="ERROR agent server listens on 127.0.0.1 only, nobody can reach it",
    explain=CAUSE,
    versions="any",
)

_REMEDY = Remedy(
    kind=RemedyKind.FIX_CONFIG,
    summary=f"run with keys, or set {SESSION_KEY_VARIABLES[0]} in the sandboxes, or add --host 0.0.0.0 to their command",
)


@check("RUN008", fix="skyrl_train/sandbox/inject.py")
def agent_server_on_loopback_only(
    plan: Plan, answers: RuntimeAnswers | None, canary: Canary | None
) -> Iterator[Finding]:
    unreached = canary.of("RUN008") if canary is not None else ()
    if unreached:
        yield Finding(
            message=f"{len(unreached)} sandboxes are reported as ready but cannot be reached; expected them to answer",
            evidence=unreached[:3],
            remedy=_REMEDY,
        )
        return
    if canary is not None and canary.worked:
        return
    if answers is not None and answers.takes_any_key:
        yield Finding(
            message=(
                f"{answers.place.url} runs without keys, so its agent servers have none; since {render_version(LOOPBACK_SINCE)} they then listen on 127.0.0.1, where no client reaches them; expected a session key for each"
            ),
            remedy=_REMEDY,
            severity=Severity.WARNING,
        )
    elif answers is None and inject_of(plan) is None:
        raise NotApplicable("no running runtime is configured, and skyrl-train does not start one")
