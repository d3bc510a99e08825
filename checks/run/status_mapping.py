"""The runtime's states are not those that clients know.

## What it does
Asks a running runtime for a session that nobody has, which must be answered with 404, and looks at the states that a
sandbox of the doctor's own went through.

## Why it breaks training
A client waits until `pod_status` is `ready`. A runtime that says `running` for a sandbox that is up, as Docker and Podman
do, is asked again until the time is up; one that answers 200, 422 or 500 for a session that is not there is taken for
broken, and the start ends.

## How to fix
Map the states: `STARTING` is `running`, an agent server that answers is `ready`, a container that ended is `failed`.
`skyrl-train runtime serve` does; the table is in skyrl_train/contracts/sandbox/wire.py.

## Example
    Runtime not yet ready (status: running)
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.runtime import PROBE_SESSION, Canary, RuntimeAnswers

CAUSE = "the server's states are not those that the client knows: only `ready` ends the wait"

SIGNATURES = (
    Signature(
        pattern=r"Runtime not yet ready \(status: running\)|Runtime \(ID=[^)]{1,80}\) is not yet ready\. Status: running|Unknown pod status: ",
        sample="Runtime not yet ready (status: running)",
        explain=CAUSE,
        versions="openhands-workspace, OpenHands V0",
        at_least=5,
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:unknown|unexpected|unrecogni[sz]ed|invalid) (?:pod|runtime|sandbox|container)[ _](?:status|state)\b",
    sample="ValueError: unexpected pod status 'exited' from the runtime server",
    explain=CAUSE,
    versions="any",
)

_ID = "RUN004"
_UPGRADE = Remedy(
    kind=RemedyKind.FIX_CONFIG, summary="use a runtime whose states are the clients': skyrl-train runtime serve"
)


@check("RUN004", fix="skyrl_train/contracts/sandbox/wire.py")
def status_mapping(answers: RuntimeAnswers, canary: Canary | None) -> Iterator[Finding]:
    said, place = answers.with_key, answers.place
    if said.status is None or said.status in (401, 403):
        raise CouldNotLook(f"{place.url}: {said.why or f'{said.status} (RUN001)'}")
    if said.status != 404:
        yield Finding(
            message=f"{place.url} answers {said.status} for the session {PROBE_SESSION!r}, which nobody has; wanted 404",
            evidence=(said.body.strip()[:200],),
            remedy=_UPGRADE,
        )
    wrong = canary.of(_ID) if canary is not None else ()
    if wrong:
        yield Finding(
            message=f"{len(wrong)} sandboxes went through states that clients do not know",
            evidence=wrong[:3],
            remedy=_UPGRADE,
        )
