"""Two servers over one store would take each other's sandboxes for nobody's: the second is refused."""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator

from skyrl_train.contracts.errors import UsageError

DYING_S = 10.0
"""A server that was killed is seen to be gone a little before its last thread has let go of its files."""
_STEP_S = 0.05
_MOST = 32


@contextlib.asynccontextmanager
async def only_one(state: str, *, limit_s: float = DYING_S) -> AsyncIterator[None]:
    """Raises UsageError where another server still runs after the limit."""
    os.makedirs(state, mode=0o700, exist_ok=True)
    descriptor = os.open(f"{state}/lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if not await _locked(descriptor, limit_s):
            holder = os.pread(descriptor, _MOST, 0).decode("ascii", "replace").strip() or "unknown"
            raise UsageError(f"another runtime server of this job (process {holder}) holds {state}/lock; stop it first")
        with contextlib.suppress(OSError):  # a full disk keeps no server from coming up
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


async def _locked(descriptor: int, limit_s: float) -> bool:
    loop = asyncio.get_running_loop()
    end = loop.time() + limit_s
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if loop.time() >= end:
            return False
        await asyncio.sleep(_STEP_S)
