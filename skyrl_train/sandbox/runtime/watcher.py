"""Notices at once when a sandbox ends without anybody having asked, and says why."""

import asyncio
from dataclasses import dataclass

from skyrl_train.contracts.errors import TrainError
from skyrl_train.sandbox.runtime.engine import Container, Engine, Phase
from skyrl_train.sandbox.runtime.exceeded_limits import limits_in
from skyrl_train.sandbox.runtime.remover import Remover
from skyrl_train.sandbox.runtime.sandboxes import Sandboxes
from skyrl_train.sandbox.runtime.store import SessionStore
from skyrl_train.sandbox.runtime.tasks import Tasks

_SIGNALLED = 128
_NAMES = {9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM", 6: "SIGABRT", 7: "SIGBUS"}
_LOOKS, _STEP_S = 60, 0.05
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126


@dataclass(frozen=True, kw_only=True)
class Watcher:
    store: SessionStore
    sandboxes: Sandboxes
    remover: Remover
    tasks: Tasks

    def begin(self, container: Container) -> None:
        self.tasks.start(self._watch(container), f"watch {container.name}")

    async def _watch(self, container: Container) -> None:
        await self.sandboxes.engine.ended(container)
        if self.sandboxes.containers.get(container.name) is not container:
            return
        cause = await why_ended(self.sandboxes.engine, container.name)
        logs = await self.sandboxes.logs(container.name)
        if not self.store.current(container.name).live:
            return
        exceeded = limits_in(logs)[-1:]
        await self.store.fail(container.name, "; ".join((cause, *exceeded)), logs)
        await self.remover.remove(container.name)


async def why_ended(engine: Engine, runtime_id: str) -> str:
    """How the container ended; a sentence even where the engine does not know."""
    try:
        found = await _find_ended(engine, runtime_id)
    except TrainError as error:
        return f"the sandbox ended, and Podman could not say why: {error}"
    if found is None:
        return "the sandbox is gone: its container was removed by somebody else"
    return f"the sandbox ended: {_ending(found)}"


async def _find_ended(engine: Engine, runtime_id: str) -> Container | None:
    """The kernel reports an end a little before the engine has recorded it."""
    for _ in range(_LOOKS):
        found = await engine.find(runtime_id)
        if found is None or found.phase is Phase.EXITED:
            break
        await asyncio.sleep(_STEP_S)
    return found


def _ending(found: Container) -> str:
    code = found.exit_code
    if found.out_of_memory:
        return f"it was out of memory (exit status {code})"
    if code == _NOT_FOUND:
        return "its command was not found in the image (exit status 127)"
    if code == _NOT_EXECUTABLE:
        return "its command could not be run (exit status 126)"
    if code > _SIGNALLED:
        number = code - _SIGNALLED
        return f"killed by {_NAMES.get(number, f'signal {number}')} (exit status {code})"
    return f"exit status {code}"
