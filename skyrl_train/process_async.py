"""Runs other programs for coroutines, by the rules of `process`."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import Sequence
from typing import Unpack

from skyrl_train.process import (
    CHUNK,
    DROP,
    GRACE_S,
    INHERIT,
    MOST_BYTES,
    REAP_S,
    Completed,
    Settings,
    as_os_error,
    run,
    signal_group,
)


async def run_async(
    argv: Sequence[str],
    *,
    limit_s: float,
    grace_s: float = GRACE_S,
    most_bytes: int = MOST_BYTES,
    **settings: Unpack[Settings],
) -> Completed:
    """As `run`, in a thread. A task that is cancelled ends the program first."""
    stop = threading.Event()

    def work() -> Completed:
        return run(argv, limit_s=limit_s, grace_s=grace_s, stop=stop, most_bytes=most_bytes, **settings)

    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([running])
        raise


async def start_async(
    argv: Sequence[str], *, stdin: int = DROP, line_bytes: int = CHUNK, **settings: Unpack[Settings]
) -> asyncio.subprocess.Process:
    """Starts a program that the caller talks to, and ends with `end_async`. Raises OSError.

    A task that is cancelled meanwhile ends it: asyncio alone kills what it has begun, and a Podman that is killed while
    it makes a container leaves half of one.
    """
    env = settings.get("env")
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *argv,
            stdin=stdin,
            stdout=settings.get("stdout", INHERIT),
            stderr=settings.get("stderr", INHERIT),
            env=None if env is None else dict(env),
            cwd=settings.get("cwd"),
            pass_fds=settings.get("pass_fds", ()),
            start_new_session=True,
            limit=line_bytes,
        )
    )
    with as_os_error():
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            await end_async(await starting)
            raise


async def end_async(process: asyncio.subprocess.Process, *, grace_s: float = GRACE_S, finish_s: float = 0.0) -> None:
    """Closes its input, gives it `finish_s` to end by itself, and ends the whole group as `Child.end` does."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        if not await _has_ended(process, finish_s):
            signal_group(process.pid, signal.SIGTERM)
            await _has_ended(process, grace_s)
    finally:
        signal_group(process.pid, signal.SIGKILL)
    await _has_ended(process, REAP_S)


async def _has_ended(process: asyncio.subprocess.Process, limit_s: float) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            await process.wait()
    return process.returncode is not None
