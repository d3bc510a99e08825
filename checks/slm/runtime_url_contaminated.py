"""What is to be the runtime's URL is none, is more than one line, or is of a run that is over.

## What it does
Reads every text that names the runtime's address: `sandbox.runtime_url`, `SANDBOX_REMOTE_RUNTIME_API_URL`, and
`runtime_url.txt` of a job directory whose runtime is ready. Each must be one URL and nothing else. Where the trainer is to
run, it also asks the runtime that the job directory calls ready: if nobody listens there, `runtime_ready.flag` is an earlier
run's.

## Why it breaks training
A shell function that logs to its standard output writes its log into `$(...)`, and the URL becomes three lines of text.
Nothing says so until the first rollout: then every request fails with an error about a missing protocol.
A flag that an earlier run left, killed or in the same directory, sends the trainer to a port of nobody: it waits for its
first sandbox until the rollout's time is over.

## How to fix
Read the address from the file that the runtime writes, and let shell functions log to standard error. Give each launch a
directory of its own, as `skyrl-train launch` does, or remove the flag before the runtime starts.

## Example
    httpx.UnsupportedProtocol: Request URL is missing an 'http://' or 'https://' protocol.
"""

import shlex
from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.runtime import ReadyFlag, RuntimeUrls
from skyrl_doctor.plan.answers import RUNTIME_KEY
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.job_files import one_url

CAUSE = "the runtime's URL is not a URL: log lines went into it, or it is empty"

SIGNATURES = (
    Signature(
        pattern=r"Invalid URL '[^\n]{0,200}No scheme|\b(?:MissingSchema|InvalidSchema|LocationParseError)\b|No connection adapters were found for",
        sample="requests.exceptions.MissingSchema: Invalid URL '[INFO] waiting for runtime/sessions/x': No scheme supplied. Perhaps you meant https://[INFO] waiting for runtime/sessions/x?",
        explain=CAUSE,
        versions="requests",
    ),
    Signature(
        pattern=r"curl: \(3\)|\bPort could not be cast to integer value as|\bunknown url type: |\bInvalid(?:Url|URL)(?:ClientError)?\b|\bNonHttpUrl(?:ClientError)?\b|\bInvalid IPv6 URL\b|\bhttpcore\.UnsupportedProtocol\b|\bInput should be a valid URL, |\bInvalid URL: (?:host|port)\b|netloc .{1,200} contains invalid characters",
        sample="curl: (3) URL using bad/illegal format or missing URL",
        explain=CAUSE,
        versions="curl, aiohttp",
    ),
    Signature(
        pattern=r"\bInvalidURI\b|\bURL scheme should be 'http|isn't a valid UR[IL]\b|Error: .{0,80}[Ii]nvalid (?:base |server |runtime )?(?:URL|url)\b",
        sample="websockets.exceptions.InvalidURI: [INFO] http://node07:8000 isn't a valid URI: scheme isn't ws or wss",
        explain=CAUSE,
        versions="websockets, pydantic",
    ),
    Signature(
        pattern=r"\bSLM004: .{1,300} of an earlier launch\b",
        sample=(
            "skyrl-train launch: SLM004: /home/ada/run/job holds runtime_ready.flag of an earlier launch, which names its "
            "runtime; wanted a directory of this launch alone"
        ),
        explain="the directory names the runtime of an earlier launch, which is gone; each launch wants one of its own",
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"""Request URL is missing an? ['\"]http|\bhttpx\.(?:UnsupportedProtocol|InvalidURL)\b""",
        sample="httpx.UnsupportedProtocol: Request URL is missing an 'http://' or 'https://' protocol.",
        explain="the runtime's URL is not a URL: log lines went into it",
        versions="httpx",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:runtime|server|base|api)[ _-]?(?:url|address)\b.{0,80}(?:malformed|not a (?:valid )?url|garbage|log lines)",
    sample="ValueError: the runtime URL is not a valid URL: 'waiting for the runtime'",
    explain=CAUSE,
    versions="any",
)


@check("SLM004", fix="skyrl_train/contracts/job_files.py")
def runtime_url_contaminated(plan: Plan, urls: RuntimeUrls, flag: ReadyFlag | None) -> Iterator[Finding]:
    if flag is not None and flag.is_stale:
        yield _stale(flag)
    for said in urls.said:
        if one_url(said.text) is not None:
            continue
        lines = len(said.text.splitlines())
        more = f", {lines} lines" if lines > 1 else ""
        yield Finding(
            message=f"{said.said_by} holds {said.text[:80]!r}{more}; wanted one URL alone, such as http://node07:8000",
            location=_place(plan, said.said_by),
            remedy=Remedy(
                kind=RemedyKind.FIX_ENV, summary="take it from the file that the runtime writes, and log to stderr"
            ),
        )


def _stale(flag: ReadyFlag) -> Finding:
    return Finding(
        message=f"{flag.path} says that the runtime at {flag.url} is ready, and nobody listens there: it is of an earlier "
        "run, or its runtime has ended since; wanted the flag of a runtime that runs",
        evidence=(f"GET {flag.health.url}: {flag.health.why}",),
        location=Location(flag.path),
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="if a runtime of this launch wrote it, its log says why it ended; else give each launch a directory of its "
            "own, or remove the flag before the runtime starts",
            commands=(f"rm {shlex.quote(flag.path)}",),
        ),
    )


def _place(plan: Plan, said_by: str) -> Location | None:
    if said_by.startswith("$"):
        return None
    return Location(said_by) if said_by.startswith("/") else plan.place(RUNTIME_KEY)
