"""The runtime's URL is invalid, has several lines, or belongs to an earlier run.

## What it does
Reads every text that names the runtime's address: `sandbox.runtime_url`, `SANDBOX_REMOTE_RUNTIME_API_URL`, and
`runtime_url.txt` of a job directory with a ready runtime. Each must be one URL and nothing else. On the trainer's
node it also asks the runtime that the job directory reports as ready. If no process listens there,
`runtime_ready.flag` is from an earlier run.

## Why it breaks training
A shell function that logs to its standard output writes its log into `$(...)`, and the URL becomes three lines of
text. The first error comes with the first rollout: then every request fails with a message about a missing protocol. A
flag of an earlier run sends the trainer to a closed port, and it waits for its first sandbox until the rollout times
out.

## How to fix
Read the address from the file that the runtime writes, and let shell functions log to standard error. Give each
launch its own directory, as `skyrl-train launch` does, or remove the flag before the runtime starts.

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

CAUSE = "the runtime's URL is invalid: it contains log lines or is empty"

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
        explain="the directory names the runtime of an earlier launch, which has ended; use a new directory for each launch",
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"""Request URL is missing an? ['\"]http|\bhttpx\.(?:UnsupportedProtocol|InvalidURL)\b""",
        sample="httpx.UnsupportedProtocol: Request URL is missing an 'http://' or 'https://' protocol.",
        explain="the runtime's URL is invalid: it contains log lines",
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
    for said in urls.sources:
        if one_url(said.text) is not None:
            continue
        lines = len(said.text.splitlines())
        more = f", {lines} lines" if lines > 1 else ""
        yield Finding(
            message=f"{said.source} contains {said.text[:80]!r}{more}; expected a single URL such as http://node07:8000",
            location=_place(plan, said.source),
            remedy=Remedy(
                kind=RemedyKind.FIX_ENV, summary="read it from the file that the runtime writes, and log to stderr"
            ),
        )


def _stale(flag: ReadyFlag) -> Finding:
    return Finding(
        message=f"{flag.path} reports that the runtime at {flag.url} is ready, but no process listens there: the flag is from an earlier run, or the runtime has ended; expected the flag of a running runtime",
        evidence=(f"GET {flag.health.url}: {flag.health.why}",),
        location=Location(flag.path),
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="if a runtime of this launch wrote it, read its log to see why it ended; otherwise use a new directory for each launch, or remove the flag before the runtime starts",
            commands=(f"rm {shlex.quote(flag.path)}",),
        ),
    )


def _place(plan: Plan, said_by: str) -> Location | None:
    if said_by.startswith("$"):
        return None
    return Location(said_by) if said_by.startswith("/") else plan.place(RUNTIME_KEY)
