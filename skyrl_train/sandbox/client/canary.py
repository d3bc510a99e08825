"""Tests a running runtime with a few sandboxes, as many at once as the run will use.

Each one is started, runs a command, copies a file both ways, and is removed. If this process dies, a second one in its
own session removes the rest: it waits on a pipe that closes with the first.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

import httpx

from skyrl_train.sandbox.client.failures import Cause, SandboxError
from skyrl_train.sandbox.client.runtime import Limits, RuntimeClient, SandboxRequest
from skyrl_train.sandbox.client.sandbox import Sandbox

WRONG_KEY = "doctor-tries-a-wrong-key"
_FILE = "/tmp/.skyrl-canary"  # noqa: S108 -- in the sandbox
_BYTES = 1 << 20
_CLOSE_S = 10.0
_LONGEST_MESSAGE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryRequest:
    """What to test."""

    url: str
    key: str
    image: str
    count: int
    limit_s: float
    ids: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class CanaryResult:
    """What the sandboxes did. `failures` are causes with a message each."""

    asked: int
    worked: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)
    start_s: list[float] = field(default_factory=list)
    command_s: list[float] = field(default_factory=list)
    has_key: bool | None = None
    server_version: str = ""
    wrong_key_refused: bool | None = None
    left: int = 0


def session_ids(count: int) -> tuple[str, ...]:
    token = uuid.uuid4().hex[:12]
    return tuple(f"doctor-canary-{token}-{number}" for number in range(count))


async def run_canary(request: CanaryRequest, *, transport: httpx.AsyncBaseTransport | None = None) -> CanaryResult:
    """Runs all sandboxes at once. Ends at the limit, with the results so far."""
    result = CanaryResult(asked=request.count)
    limits = Limits(start_s=request.limit_s, request_s=min(10.0, request.limit_s), close_s=_CLOSE_S)
    async with RuntimeClient(request.url, request.key, limits=limits, transport=transport) as runtime:
        ids = request.ids or session_ids(request.count)
        works = [
            _one(runtime, SandboxRequest(image=request.image, session_id=name), result, request.limit_s) for name in ids
        ]
        await asyncio.gather(*works)
        result.wrong_key_refused = await _is_wrong_key_refused(request, transport)
        result.left = await _count_left(runtime, ids)
    return result


async def _one(runtime: RuntimeClient, sandbox_request: SandboxRequest, result: CanaryResult, limit_s: float) -> None:
    began = time.monotonic()
    try:
        async with asyncio.timeout(limit_s), runtime.sandbox(sandbox_request) as sandbox:
            result.start_s.append(round(time.monotonic() - began, 3))
            await _use(sandbox, result)
        result.worked += 1
    except SandboxError as error:
        result.failures.append((error.cause.value, str(error)[:_LONGEST_MESSAGE]))
    except TimeoutError:
        result.failures.append((Cause.TIMEOUT.value, f"not started, used and removed within {limit_s:g} s"))


async def _use(sandbox: Sandbox, result: CanaryResult) -> None:
    result.has_key = sandbox.has_key
    began = time.monotonic()
    done = await sandbox.execute("echo canary", timeout_s=10)
    result.command_s.append(round(time.monotonic() - began, 3))
    if (done.exit_code, done.stdout) != (0, "canary\n"):
        raise sandbox.failed(Cause.GARBLED, "execute", f"echo gave {done.stdout[:80]!r}, exit status {done.exit_code}")
    data = os.urandom(_BYTES)
    await sandbox.upload(data, _FILE, limit_s=20)
    if await sandbox.read(_FILE, limit_s=20) != data:
        raise sandbox.failed(Cause.GARBLED, "read", "the file came back with different content")
    if not result.server_version:
        result.server_version = str((await sandbox.server_info()).get("version") or "")


async def _is_wrong_key_refused(request: CanaryRequest, transport: httpx.AsyncBaseTransport | None) -> bool | None:
    """None if there was no answer."""
    limits = Limits(request_s=5.0)
    async with RuntimeClient(request.url, WRONG_KEY, limits=limits, transport=transport) as stranger:
        try:
            await stranger.find("doctor-probe")
        except SandboxError as error:
            return True if error.cause is Cause.KEY else None
    return False


async def _count_left(runtime: RuntimeClient, ids: Sequence[str]) -> int:
    """How many sandboxes are still there. A runtime may remember stopped ones."""
    left = 0
    for name in ids:
        with contextlib.suppress(SandboxError):
            seen = await runtime.find(name)
            left += seen is not None and seen.status != "stopped"
    return left


@contextlib.contextmanager
def reaper(request: CanaryRequest) -> Iterator[None]:
    """Removes the sandboxes even if this process is killed."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(writing)
        _reap(request, reading)
    os.close(reading)
    try:
        yield
        os.write(writing, b".")
    finally:
        os.close(writing)


def _reap(request: CanaryRequest, reading: int) -> None:
    """Runs in its own process, which ends here."""
    try:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        with open(os.devnull, "r+b", buffering=0) as nothing:
            for stream in (0, 1, 2):
                os.dup2(nothing.fileno(), stream)
        if os.read(reading, 1) != b".":
            asyncio.run(_remove(request))
    finally:
        os._exit(0)


async def _remove(request: CanaryRequest) -> None:
    async with RuntimeClient(request.url, request.key, limits=Limits(request_s=5.0, close_s=_CLOSE_S)) as runtime:
        for name in request.ids:
            with contextlib.suppress(SandboxError):
                await runtime.stop(name)


def main(words: Sequence[str]) -> int:
    """Arguments: URL, source of the key, image, count, seconds. Prints the result as one JSON object."""
    url, key_from, image, count, limit_s = words
    request = CanaryRequest(
        url=url, key=_key(key_from), image=image, count=int(count), limit_s=float(limit_s), ids=session_ids(int(count))
    )
    with reaper(request):
        result = asyncio.run(run_canary(request))
    sys.stdout.write(json.dumps(asdict(result)) + "\n")
    return 0


def _key(source: str) -> str:
    kind, _, name = source.partition(" ")
    if kind == "file":
        with open(name, encoding="ascii") as file:
            return file.read(4096).strip()
    return os.environ.get(name, "").strip() if kind == "env" else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
