"""The agent server listens on its own loopback only, so that no client reaches it.

## What it does
Looks whether a running runtime takes requests without a right key, in which case it gives its agent servers none, and
whether a sandbox of the doctor's own had a session key and was reached.

## Why it breaks training
Since 1.38 the agent server listens on 127.0.0.1 of its container unless it has a session key or is told `--host`. Clients
tell it neither. In a runtime without keys its health is good from the inside, and every client gets
"connection refused".

## How to fix
Run with keys: `skyrl-train runtime serve` gives each sandbox its own and names the address as well. For another
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
from skyrl_train.contracts.sandbox.agent_server import LOOPBACK_SINCE, shown
from skyrl_train.contracts.sandboxd_api import SESSION_KEY_VARIABLES

CAUSE = "the agent server listens inside its container only; give it a session key or `--host 0.0.0.0`"

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
    summary=f"run with keys; or give sandboxes {SESSION_KEY_VARIABLES[0]}, or their command --host 0.0.0.0",
)


@check("RUN008", fix="skyrl_train/sandbox/inject.py")
def agent_server_on_loopback_only(
    plan: Plan, answers: RuntimeAnswers | None, canary: Canary | None
) -> Iterator[Finding]:
    unreached = canary.of("RUN008") if canary is not None else ()
    if unreached:
        yield Finding(
            message=f"{len(unreached)} sandboxes are called ready and cannot be reached; wanted one that answers",
            evidence=unreached[:3],
            remedy=_REMEDY,
        )
        return
    if canary is not None and canary.worked:
        return
    if answers is not None and answers.takes_any_key:
        yield Finding(
            message=(
                f"{answers.place.url} runs without keys, and so do its agent servers; from {shown(LOOPBACK_SINCE)} on "
                "they listen on 127.0.0.1 then, where no client reaches them; wanted a session key for each"
            ),
            remedy=_REMEDY,
            severity=Severity.WARNING,
        )
    elif answers is None and inject_of(plan) is None:
        raise NotApplicable("no running runtime is named, and the one of this configuration is not ours")
