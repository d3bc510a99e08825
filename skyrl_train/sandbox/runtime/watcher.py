"""Notices at once when a sandbox ends without anybody having asked, and says why."""

import asyncio

from skyrl_train.contracts.errors import TrainError
from skyrl_train.sandbox.runtime.engine import Container, Phase
from skyrl_train.sandbox.runtime.exceeded_limits import limits_in
from skyrl_train.sandbox.runtime.remover import remove
from skyrl_train.sandbox.runtime.store import Parts

_SIGNALLED = 128
_NAMES = {9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM", 6: "SIGABRT", 7: "SIGBUS"}
_LOOKS, _STEP_S = 60, 0.05
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126


async def watch(parts: Parts, container: Container) -> None:
    await parts.engine.ended(container)
    if parts.containers.get(container.name) is not container:
        return
    cause = await why_ended(parts, container.name)
    logs = await parts.logs(container.name)
    record = parts.current(container.name)
    if not record.live:
        return
    held = limits_in(logs)[-1:]
    await parts.fail(container.name, "; ".join((cause, *held)), logs)
    await remove(parts, container.name)


async def why_ended(parts: Parts, runtime_id: str) -> str:
    """What the engine knows of an end; a sentence even where it knows nothing."""
    try:
        found = await _when_noted(parts, runtime_id)
    except TrainError as error:
        return f"the sandbox ended, and Podman could not say why: {error}"
    if found is None:
        return "the sandbox is gone: its container was removed by somebody else"
    return f"the sandbox ended: {_ending(found)}"


async def _when_noted(parts: Parts, runtime_id: str) -> Container | None:
    """The kernel tells of an end a little before the engine has noted how it was."""
    for _ in range(_LOOKS):
        found = await parts.engine.find(runtime_id)
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
