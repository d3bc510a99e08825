"""Client and agent server have different routes for files.

## What it does
Compares the version of openhands-workspace in the training interpreter with that of the agent server in a sandbox of the
doctor's own.

## Why it breaks training
Until 1.19 files were sent to `/api/file/upload/PATH`, since 1.20 only to `/api/file/upload?path=PATH`. A client and a
server from both sides of that line find no route: every upload is answered with 404, which the client reports as a
result and does not raise. The task's scripts are not there, and no rollout does anything.

## How to fix
Install the same version on both sides. sandboxd, which `sandbox.inject = "mount"` brings, has both forms.

## Example
    "POST /api/file/upload/testbed/run.sh HTTP/1.1" 404 Not Found
"""

from collections.abc import Iterator

from checks.img.shared import inject_of
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.interpreter import Interpreter
from skyrl_doctor.facts.runtime import Canary
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.agent_server import client_route, parse_version, routes_differ

CAUSE = "client and agent server are of different versions and have different routes for files; use one version"

SIGNATURES = (
    Signature(
        pattern=r"/api/file/(?:upload|download).{0,200}\b404\b|\b404\b.{0,200}/api/file/(?:upload|download)|Remote file upload failed",
        sample='INFO:     10.0.0.3:51234 - "POST /api/file/upload/testbed/run.sh HTTP/1.1" 404 Not Found',
        explain=CAUSE,
        versions="openhands-agent-server >= 1.20",
    ),
    Signature(
        pattern=r"Remote file (?:upload|download) failed|404 .{0,120}/api/(?:file|bash|git)/|/api/(?:bash|git|conversations?)/\S{0,120} HTTP/1\.1\" 40[45]",
        sample="Remote file download failed: Client error '404 Not Found' for url 'http://node07:60003/api/file/download/testbed/out.txt'",
        explain=CAUSE,
        versions="openhands-workspace",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:client|sdk|agent[- _]server|server)\b.{0,40}\bversions?\b.{0,60}(?:mismatch|differ|incompatib|do(?:es)? not match)",
    sample="RuntimeError: client and agent server versions differ: 1.58.2 and 1.8.2",
    explain="client and agent server are of different versions; use one version",
    versions="any",
    unless="(?i:ray|python|torch|cuda|nccl|driver)",
)

_CLIENTS = ("openhands-workspace", "openhands-sdk")


@check("RUN009", fix="skyrl_train/sandbox/sandboxd/routes.py")
def file_route_skew(plan: Plan, interpreter: Interpreter | None, canary: Canary | None) -> Iterator[Finding]:
    failed = canary.of("RUN009") if canary is not None else ()
    if failed:
        yield _skew("files cannot be sent to the sandbox: its agent server has no such route", failed[:3])
        return
    if inject_of(plan) == "mount":
        return
    packages = interpreter.packages if interpreter is not None else {}
    name = next((name for name in _CLIENTS if name in packages), "")
    client = parse_version(packages.get(name, ""))
    server = parse_version(canary.server_version) if canary is not None else None
    if client is None or server is None:
        raise NotApplicable("the version of the client or of the agent server is not known: nothing runs yet")
    if routes_differ(client=client, server=server):
        assert canary is not None
        form = {"path": "/api/file/upload/PATH", "query": "/api/file/upload?path=PATH"}[client_route(client)]
        yield _skew(
            f"{name} {packages[name]} sends files to {form}, which agent server {canary.server_version} does not have; "
            "wanted the same version on both sides",
            (),
        )


def _skew(message: str, evidence: tuple[str, ...]) -> Finding:
    return Finding(
        message=message,
        evidence=evidence,
        remedy=Remedy(
            kind=RemedyKind.REBUILD_IMAGE,
            summary='install one version on both sides, or mount sandboxd: sandbox.inject = "mount"',
        ),
    )
