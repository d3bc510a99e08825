"""The runtime fails or is too slow when all sandboxes of a step start at once.

## What it does
With `--role runtime` and a running runtime, starts as many sandboxes as the plan has rollouts at once (at most 32),
lets each run a command and transfer a file, and removes them again. Counts the failures and measures the slowest
start. The sandboxes are removed even if the doctor is killed.

## Why it breaks training
One sandbox always works. At the start of a step all rollouts request theirs together. Runtimes then answered with 500
and 503, or took 20 s for each, and the rollouts were lost one by one within minutes.

## How to fix
Start fewer at once (`agent.max_parallel`), or give the runtime more CPUs. `skyrl-train runtime serve` queues requests
beyond its capacity, and its client waits and retries.

## Example
    503 Server Error: Service Unavailable for url: http://node07:8000/start
"""

from collections import Counter
from collections.abc import Iterator

from checks.vocabulary import OTHER_SERVICES, SANDBOX
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.runtime import Canary
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan

CAUSE = "the runtime fails under that many starts at once; limit them"

SIGNATURES = (
    Signature(
        pattern=r"WARNING\W.{0,40}Exceeded concurrency limit\.",
        sample="WARNING:  Exceeded concurrency limit.",
        explain=CAUSE,
        versions="uvicorn",
        at_least=3,
    ),
    Signature(
        pattern=r"\b50[0234] (?:Server Error|Internal Server Error|Service Unavailable|Bad Gateway|Gateway Time-?out).{0,200}/(?:start|sessions?|runtime)\b|\b50[0234] (?:Server Error|Internal Server Error|Service Unavailable|Bad Gateway|Gateway Time-?out)[^/\n]{0,80} for url:? '?https?://[^/\s]{0,120}(?:runtime|sandbox)[^/\s]{0,80}/\S{0,100}",
        sample="requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: http://node07:8000/start",
        explain=CAUSE,
        versions="requests",
        unless=OTHER_SERVICES,
    ),
    Signature(
        pattern=r"\b50[0234] (?:Server Error|Internal Server Error|Service Unavailable|Bad Gateway|Gateway Time-?out)[^/\n]{0,80} for url:? '?https?://(?!localhost\b|127\.)[^/\s]{1,200}/(?:alive|execute_action|server_info)\b",
        sample="requests.exceptions.HTTPError: 502 Server Error: Bad Gateway for url: http://node07:9000/alive",
        explain=CAUSE,
        versions="openhands",
    ),
    Signature(
        pattern=r"/(?:start|sessions?)\S* HTTP/1\.1\" 50\d",
        sample='INFO:     10.0.0.3:5004 - "POST /start HTTP/1.1" 503 Service Unavailable',
        explain=CAUSE,
        versions="uvicorn",
        at_least=4,  # a client repeats one or two
    ),
    Signature(
        pattern=r"\b422\b.{0,20}Unprocessable Entity.{0,120}/(?:start|sessions?|runtime)\b|\bServer error '50\d .{0,80}/(?:start|sessions?|runtime)\b",
        sample="httpx.HTTPStatusError: Server error '503 Service Unavailable' for url 'http://node07:8000/sessions/ab12'",
        explain=CAUSE,
        versions="httpx",
    ),
    Signature(
        pattern=r"\b50[0234], message='.{0,80}(?:/start|/sessions?|/runtime)\b|50[0234] .{0,160}:\d{4,5}/(?:start|sessions?|runtime|api(?!/conversations/[^/\s]{1,80}/))\b|(?:/start|/sessions?/\S{0,80}) .{0,20}(?:returned|answered|status) 50\d|url: /(?:start|sessions?|runtime)\b.{0,80}too many 5\d\d error responses",
        sample="aiohttp.client_exceptions.ClientResponseError: 503, message='Service Unavailable', url='http://node07:8000/start'",
        explain=CAUSE,
        versions="aiohttp",
        unless=OTHER_SERVICES,
    ),
    Signature(
        pattern=r"\bUnixHTTPConnectionPool\(host='localhost', port=None\): Read timed out|\bHTTPS?ConnectionPool\(host='[^'\n]{1,120}', port=237[56]\): Read timed out",
        sample="requests.exceptions.ReadTimeout: UnixHTTPConnectionPool(host='localhost', port=None): Read timed out. (read timeout=60)",
        explain="Docker did not answer in time: too many containers start or stop at once, or its disk is slow",
        remedy="Run fewer sandboxes at once, keep Docker's store on a local SSD, and wait longer: `DOCKER_CLIENT_TIMEOUT=300` and `COMPOSE_HTTP_TIMEOUT=300`, or `docker.from_env(timeout=300)`. If every call hangs, restart Docker.",
        versions="docker-py",
        last_resort=True,
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b{SANDBOX}\b.{{0,80}}\b(?:overload\w*|overwhelmed|50[0234]\b.{{0,40}}(?:/start|load))",
    sample="RuntimeError: the runtime answered 503 to /start under load",
    explain=CAUSE,
    versions="any",
)

KEY = "agent.max_parallel"
SLOW_S = 15.0
"Starting a sandbox from a stored image takes a second."
_OWN_CHECK = ("RUN001", "RUN004", "RUN008", "RUN009")


@check("RUN010", roles=[Role.RUNTIME], fix="skyrl_train/sandbox/client/http.py")
def runtime_fails_under_load(plan: Plan, canary: Canary) -> Iterator[Finding]:
    failed = [(cause, text) for cause, text in canary.failures if cause not in _OWN_CHECK]
    if failed:
        causes = ", ".join(f"{number} x {cause}" for cause, number in Counter(cause for cause, _ in failed).items())
        yield config_finding(
            f"{len(failed)} of {canary.asked} sandboxes that were started at once failed ({causes}); expected all to work",
            plan.place(KEY),
            summary="start fewer at once, or give the runtime more CPUs and memory",
            evidence=tuple(text for _, text in failed[:3]),
        )
    if canary.slowest_s > SLOW_S:
        yield config_finding(
            f"the slowest of {canary.asked} starts took {canary.slowest_s:.1f} s; expected less than {SLOW_S:g} s",
            plan.place(KEY),
            summary="start fewer at once, or give the runtime more CPUs",
            severity=Severity.WARNING,
        )
    if canary.left:
        yield Finding(
            message=f"{canary.left} of {canary.asked} sandboxes are still running after they were stopped; expected none",
            remedy=Remedy(
                kind=RemedyKind.RETRY, summary="the runtime removes them when their lease ends; read its log"
            ),
        )
