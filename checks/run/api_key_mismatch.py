"""The runtime rejects the trainer's key, or accepts any key.

## What it does
Requests a session that does not exist from a running runtime: with the key of the job directory or of the
environment, and with a wrong one. A correct runtime answers 404 to the first and 401 to the second. Also checks who
may read the key file.

## Why it breaks training
Every start of a sandbox fails with 401, and so does every rollout. Do not turn off the keys: then everyone on the
cluster's network can run commands as you, and agent servers since 1.38 are unreachable (RUN008).

## How to fix
Both jobs must read the same file that the runtime writes, `runtime_api_key.txt` in the job directory, mode 0600.
Never use `--disable-auth`.

## Example
    httpx.HTTPStatusError: Client error '401 Unauthorized' for url 'http://node07:8000/start'
"""

from collections.abc import Iterator

from checks.vocabulary import OTHER_SERVICES, SANDBOX, WRONG
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.runtime import RuntimeAnswers, RuntimePlace
from skyrl_train.contracts.job_files import KEY
from skyrl_train.contracts.sandbox.wire import RUNTIME_KEY_HEADER
from skyrl_train.node.ray_env import RUNTIME_KEYS

CAUSE = "client and runtime have different keys; both must read the job's key file"
SERVER_HAS_ANOTHER_KEY = "client and server have different keys; both must read the job's key file"

SIGNATURES = (
    Signature(
        pattern=r"rejected WebSocket connection: HTTP 40[13]\b",
        sample="websockets.exceptions.InvalidStatus: server rejected WebSocket connection: HTTP 403",
        explain=CAUSE,
        versions="websockets, openhands-agent-server",
    ),
    Signature(
        pattern=r"\"WebSocket /\S{1,200}\" 40[13]\b",
        sample='INFO:     10.4.7.21:40122 - "WebSocket /sockets/events/7f1c" 403',
        explain=CAUSE,
        versions="uvicorn",
        fatal=False,
    ),
    Signature(
        pattern=r"received 40\d\d .{0,40}(?:[Aa]uthenticat|[Uu]nauthori[sz]ed|[Ff]orbidden|[Ii]nvalid .{0,12}key)",
        sample="websockets.exceptions.ConnectionClosedError: received 4001 (private use) Authentication failed; then sent 4001 (private use) Authentication failed",
        explain=CAUSE,
        versions="websockets",
    ),
    Signature(
        pattern=r"Client error '401 Unauthorized' for url '",
        sample="httpx.HTTPStatusError: Client error '401 Unauthorized' for url 'http://node07:8000/start'",
        explain=CAUSE,
        versions="httpx",
        unless=r"for url 'https://(?:huggingface|hf|api\.wandb|api\.openai)\b",
    ),
    Signature(
        pattern=r"\bInvalid API key\b|/(?:start|stop|sessions?|runtime|resume)\S* HTTP/1\.1\" 401\b",
        sample='{"detail":"Invalid API key"}',
        explain=CAUSE,
        versions="runtime server",
    ),
    Signature(
        pattern=r"401 Client Error: Unauthorized for url|\b401, message='Unauthorized'|[Ii]nvalid or missing (?:session )?API[ -]?key|[Mm]issing API[ -]?key|X-(?:Session-)?API-Key.{0,60}(?:invalid|missing|mismatch|required)|\bAPI key (?:mismatch|does not match|is (?:wrong|invalid))|\"detail\": ?\"(?:Unauthorized|Not authenticated|Invalid session)",
        sample="requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: http://node07:8000/start",
        explain=CAUSE,
        versions="requests, aiohttp",
        unless=rf"{OTHER_SERVICES}|(?i:\bwandb\b|\bW&B\b|openai|anthropic|hugging)",
    ),
    Signature(
        pattern=r"\binvalid[ _-](?:session )?api[ _-]?key\b",
        sample='{"error": "invalid api key"}',
        explain=SERVER_HAS_ANOTHER_KEY,
        versions="runtime servers",
        unless=r"(?i:wandb|openai|anthropic|hugging)",
    ),
    Signature(
        pattern=r"403[^\n]{0,40}Forbidden[^\n]{0,40}url[^\n]{0,200}:\d{4,5}/(?:start|stop|sessions?|runtime|api/(?:conversations?|bash|file|git|events))|/(?:start|stop|sessions?|runtime|resume|api/conversations?)\S* HTTP/1\.1\" 403\b",
        sample="httpx.HTTPStatusError: Client error '403 Forbidden' for url 'http://node07:60004/api/conversations'",
        explain=SERVER_HAS_ANOTHER_KEY,
        versions="openhands-agent-server",
    ),
    Signature(
        pattern=r"\bmodal\.exception\.AuthError\b|\be2b\.exceptions\.AuthenticationException\b|\bDaytonaAuthenticationError\b|\bDaytona\w{0,20}Error: [^\n]{0,80}\b(?:Invalid credentials|Unauthorized)\b|\bAPI key or JWT token is required\b",
        sample="modal.exception.AuthError: Token missing. Could not authenticate client.",
        explain="the sandbox provider got no key of an account, or refused it",
        remedy="Set the provider's key in the environment of the job and of Ray's workers: `MODAL_TOKEN_ID` and `MODAL_TOKEN_SECRET`, `E2B_API_KEY`, `DAYTONA_API_KEY`.",
        versions="modal, e2b, daytona",
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b{SANDBOX}\b.{{0,60}}(?:rejected|refused|denied|did not accept|does not accept).{{0,40}}\bkey\b|\b(?:runtime|session|sandbox)(?:'s)? (?:api )?key\b.{{0,40}}{WRONG}",
    sample="PermissionError: runtime rejected the API key (HTTP 401)",
    explain=CAUSE,
    versions="any",
)

_REFUSED = (401, 403)
_OTHERS = 0o077
_ONE_FILE = "let both jobs read the key file of the runtime, runtime_api_key.txt in the job directory"


@check("RUN001", fix="skyrl_train/sandbox/runtime/guard.py")
def api_key_mismatch(answers: RuntimeAnswers) -> Iterator[Finding]:
    place, said = answers.place, answers.with_key
    yield from _open_file(place)
    if said.status is None:
        raise CouldNotLook(f"{place.url} (from {place.source}): {said.why}")
    if said.status in _REFUSED:
        yield _fault(
            f"{place.url} rejects {place.key_label} with {said.status}; expected the key that it was started with",
            commands=_export(place),
        )
    elif answers.takes_any_key:
        yield _fault(
            f"{place.url} accepts any key: it answered {answers.with_wrong_key.status} to a wrong one; expected 401",
            summary="turn on its authentication: everyone who can reach it can run commands as you",
            severity=Severity.WARNING,
        )
    elif answers.with_wrong_key.status is None:
        raise CouldNotLook(f"{place.url} with a wrong key: {answers.with_wrong_key.why}")


def _export(place: RuntimePlace) -> tuple[str, ...]:
    """Where another launch, or another person, runs the runtime: its key comes from there."""
    if place.key_file is not None:
        return ()
    name = place.key_from.partition(" ")[2] or RUNTIME_KEYS[-1]
    return (f'export {name}="$(cat JOB_DIR_OF_THE_RUNTIME/{KEY})"',)


def _open_file(place: RuntimePlace) -> Iterator[Finding]:
    file = place.key_file
    if file is not None and file.mode & _OTHERS:
        path = place.key_from.partition(" ")[2]
        yield Finding(
            message=f"{path} has mode {file.mode:04o}, so others can read the key; expected 0600",
            remedy=Remedy(
                kind=RemedyKind.FIX_ENV,
                summary="restrict the file to yourself",
                commands=(f"chmod 600 {path}",),
                safe=True,
            ),
            severity=Severity.WARNING,
        )


def _fault(
    message: str, *, summary: str = _ONE_FILE, severity: Severity = Severity.ERROR, commands: tuple[str, ...] = ()
) -> Finding:
    return Finding(
        message=message,
        evidence=(f"GET /sessions/doctor-probe with {RUNTIME_KEY_HEADER}",),
        remedy=Remedy(kind=RemedyKind.FIX_ENV, summary=summary, commands=commands),
        severity=severity,
    )
