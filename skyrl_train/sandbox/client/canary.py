"""A few sandboxes of one's own, at the concurrency of the run, to see whether a running runtime will do.

Each is started, runs a command, takes a file and gives it back, and is removed. Whatever becomes of this process, a
second one in a session of its own removes what is left: it waits on a pipe that ends with the first.
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
from skyrl_train.sandbox.client.runtime import Limits, RuntimeClient, Wanted
from skyrl_train.sandbox.client.sandbox import Sandbox

WRONG_KEY = "doctor-tries-a-wrong-key"
_FILE = "/tmp/.skyrl-canary"  # noqa: S108 -- in the sandbox
_BYTES = 1 << 20
_CLOSE_S = 10.0
_SHOWN = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What was asked for."""

    url: str
    key: str
    image: str
    count: int
    limit_s: float
    ids: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Sighting:
    """What was seen. `failures` are causes with a sentence each."""

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


async def fly(trial: Trial, *, transport: httpx.AsyncBaseTransport | None = None) -> Sighting:
    """All of them at once. It ends by the limit, with what was seen until then."""
    seen = Sighting(asked=trial.count)
    limits = Limits(start_s=trial.limit_s, request_s=min(10.0, trial.limit_s), close_s=_CLOSE_S)
    async with RuntimeClient(trial.url, trial.key, limits=limits, transport=transport) as runtime:
        ids = trial.ids or session_ids(trial.count)
        works = [_one(runtime, Wanted(image=trial.image, session_id=name), seen, trial.limit_s) for name in ids]
        await asyncio.gather(*works)
        seen.wrong_key_refused = await _is_wrong_key_refused(trial, transport)
        seen.left = await _left(runtime, ids)
    return seen


async def _one(runtime: RuntimeClient, wanted: Wanted, seen: Sighting, limit_s: float) -> None:
    began = time.monotonic()
    try:
        async with asyncio.timeout(limit_s), runtime.sandbox(wanted) as sandbox:
            seen.start_s.append(round(time.monotonic() - began, 3))
            await _used(sandbox, seen)
        seen.worked += 1
    except SandboxError as error:
        seen.failures.append((error.cause.value, str(error)[:_SHOWN]))
    except TimeoutError:
        seen.failures.append((Cause.TIMEOUT.value, f"not started, used and removed within {limit_s:g} s"))


async def _used(sandbox: Sandbox, seen: Sighting) -> None:
    seen.has_key = sandbox.has_key
    began = time.monotonic()
    done = await sandbox.execute("echo canary", timeout_s=10)
    seen.command_s.append(round(time.monotonic() - began, 3))
    if (done.exit_code, done.stdout) != (0, "canary\n"):
        raise sandbox.failed(Cause.GARBLED, "execute", f"echo gave {done.stdout[:80]!r}, exit status {done.exit_code}")
    data = os.urandom(_BYTES)
    await sandbox.upload(data, _FILE, limit_s=20)
    if await sandbox.read(_FILE, limit_s=20) != data:
        raise sandbox.failed(Cause.GARBLED, "read", "a file came back with other bytes")
    if not seen.server_version:
        seen.server_version = str((await sandbox.server_info()).get("version") or "")


async def _is_wrong_key_refused(trial: Trial, transport: httpx.AsyncBaseTransport | None) -> bool | None:
    """None where nothing was answered."""
    limits = Limits(request_s=5.0)
    async with RuntimeClient(trial.url, WRONG_KEY, limits=limits, transport=transport) as stranger:
        try:
            await stranger.look("doctor-probe")
        except SandboxError as error:
            return True if error.cause is Cause.KEY else None
    return False


async def _left(runtime: RuntimeClient, ids: Sequence[str]) -> int:
    """How many are still up. A runtime may remember what was stopped."""
    left = 0
    for name in ids:
        with contextlib.suppress(SandboxError):
            seen = await runtime.look(name)
            left += seen is not None and seen.status != "stopped"
    return left


@contextlib.contextmanager
def reaper(trial: Trial) -> Iterator[None]:
    """Sees to it that nothing is left, even if this process is killed."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(writing)
        _reap(trial, reading)
    os.close(reading)
    try:
        yield
        os.write(writing, b".")
    finally:
        os.close(writing)


def _reap(trial: Trial, reading: int) -> None:
    """In a process of its own, which ends here."""
    try:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        with open(os.devnull, "r+b", buffering=0) as nothing:
            for stream in (0, 1, 2):
                os.dup2(nothing.fileno(), stream)
        if os.read(reading, 1) != b".":
            asyncio.run(_remove(trial))
    finally:
        os._exit(0)


async def _remove(trial: Trial) -> None:
    async with RuntimeClient(trial.url, trial.key, limits=Limits(request_s=5.0, close_s=_CLOSE_S)) as runtime:
        for name in trial.ids:
            with contextlib.suppress(SandboxError):
                await runtime.stop(name)


def main(words: Sequence[str]) -> int:
    """URL, where the key is, image, count, seconds. Prints what was seen as one JSON object."""
    url, key_from, image, count, limit_s = words
    trial = Trial(
        url=url, key=_key(key_from), image=image, count=int(count), limit_s=float(limit_s), ids=session_ids(int(count))
    )
    with reaper(trial):
        seen = asyncio.run(fly(trial))
    sys.stdout.write(json.dumps(asdict(seen)) + "\n")
    return 0


def _key(source: str) -> str:
    kind, _, name = source.partition(" ")
    if kind == "file":
        with open(name, encoding="ascii") as file:
            return file.read(4096).strip()
    return os.environ.get(name, "").strip() if kind == "env" else ""
