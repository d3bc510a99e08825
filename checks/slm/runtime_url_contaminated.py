"""What is to be the runtime's URL is none, or more than one line.

## What it does
Reads every text that names the runtime's address: `sandbox.runtime_url`, `SANDBOX_REMOTE_RUNTIME_API_URL`, and
`runtime_url.txt` of a job directory whose runtime is ready. Each must be one URL and nothing else.

## Why it breaks training
A shell function that logs to its standard output writes its log into `$(...)`, and the URL becomes three lines of text.
Nothing says so until the first rollout: then every request fails with an error about a missing protocol.

## How to fix
Read the address from the file that the runtime writes, and let shell functions log to standard error.

## Example
    httpx.UnsupportedProtocol: Request URL is missing an 'http://' or 'https://' protocol.
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind
from skyrl_doctor.facts.runtime import RuntimeUrls
from skyrl_doctor.plan.answers import RUNTIME_KEY
from skyrl_doctor.plan.model import Plan
from skyrl_train.launch.url import one_url


@check("SLM004", fix="skyrl_train/launch/url.py")
def runtime_url_contaminated(plan: Plan, urls: RuntimeUrls) -> Iterator[Finding]:
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


def _place(plan: Plan, said_by: str) -> Location | None:
    if said_by.startswith("$"):
        return None
    return Location(said_by) if said_by.startswith("/") else plan.place(RUNTIME_KEY)
