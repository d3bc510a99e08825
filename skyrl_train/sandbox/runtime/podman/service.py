"""Runs `podman system service` as a child: watches it, restarts it when it dies, and kills its group at the end."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping

from skyrl_train.process_async import end_async, start_async
from skyrl_train.sandbox.engine import EngineUnsureError
from skyrl_train.sandbox.runtime.podman.lost_namespace import reset_lost_namespace

LONGEST_PATH = 107
"""Longest path of a unix socket, in bytes."""
_UP_S = 30.0
_STEP_S = 0.02
_AGAIN_S = (0.0, 0.5, 1.0, 2.0, 5.0)
_END_S = 5.0
_WORDS = 2000


class Service:
    """The service of one server. `on_end` is called when it ends unexpectedly."""

    def __init__(self, socket_path: str, environ: Mapping[str, str], on_end: Callable[[str], None]) -> None:
        self.socket_path = socket_path
        self._environ = environ
        self._on_end = on_end
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None
        self.restarts = 0

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    async def open(self) -> None:
        """Raises EngineUnsureError with Podman's output."""
        await self._start()
        self._keeper = asyncio.get_running_loop().create_task(self._keep())

    async def _start(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.socket_path)
        log = os.open(f"{self.socket_path}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            argv = ("podman", "system", "service", "--time=0", f"unix://{self.socket_path}")
            self._process = await start_async(argv, env=self._environ, stdout=log, stderr=log, cwd="/")
        except OSError as error:
            raise EngineUnsureError(f"podman cannot be started: {error}") from error
        finally:
            os.close(log)
        await self._until_it_listens(self._process)

    async def _until_it_listens(self, process: asyncio.subprocess.Process) -> None:
        try:
            async with asyncio.timeout(_UP_S):
                while process.returncode is None and not await self._listens():
                    await asyncio.sleep(_STEP_S)
        except TimeoutError as error:
            raise EngineUnsureError(
                f"Podman's service does not listen after {_UP_S:g} s; its output: {self._last_output()}"
            ) from error
        if process.returncode is not None:
            raise EngineUnsureError(f"Podman's service exited with status {process.returncode}: {self._last_output()}")

    async def _listens(self) -> bool:
        try:
            _, writer = await asyncio.open_unix_connection(self.socket_path)
        except OSError:
            return False
        writer.close()
        return True

    def _last_output(self) -> str:
        with contextlib.suppress(OSError), open(f"{self.socket_path}.log", "rb") as file:
            return file.read()[-_WORDS:].decode("utf-8", "replace").strip() or "nothing"
        return "nothing"

    async def _keep(self) -> None:
        """Restarts the service; its containers keep running, and the new one finds them."""
        while True:
            assert self._process is not None
            await self._process.wait()
            self._on_end(f"Podman's service exited with status {self._process.returncode}: {self._last_output()}")
            await self._again()

    async def _again(self) -> None:
        attempt = 0
        while True:
            await asyncio.sleep(_AGAIN_S[min(attempt, len(_AGAIN_S) - 1)])
            self.restarts += 1
            attempt += 1
            try:
                await self._start()
            except EngineUnsureError as error:
                self._on_end(str(error))
                await self._end()
                done = await asyncio.to_thread(reset_lost_namespace, os.path.dirname(self.socket_path), str(error))
                if done:
                    self._on_end(done)
                continue
            return

    async def close(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        await self._end()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.socket_path)

    async def _end(self) -> None:
        if self._process is not None:
            await end_async(self._process, grace_s=_END_S)
