"""Runs other people's code in a rollout with a time limit, and turns its errors into an end of the rollout."""

import asyncio
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePath

from skyrl_train.contracts.agent.finish import Finish


@dataclass(frozen=True, slots=True)
class End:
    """How a rollout ended. FIX(AGT004): it is a field of the transcript, never an argument of an action."""

    finish: Finish
    detail: str = ""


class EndOfRolloutError(Exception):
    """Ends only this rollout."""

    def __init__(self, end: End) -> None:
        super().__init__(end)
        self.end = end


@asynccontextmanager
async def guarded(seconds: float, *, late: End, failed: Finish) -> AsyncIterator[None]:
    """Ends the rollout with `late` if the body takes too long, and with `failed` if it raises.

    FIX(AGT017): models, sandboxes and scorers may raise anything, and one exception in a gathered batch would end the
    other rollouts too. A cancellation of this task passes through; any other CancelledError means that a client was
    closed while it waited.
    """
    try:
        async with asyncio.timeout(seconds) as limit:
            yield
    except EndOfRolloutError:
        raise
    except (Exception, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and _is_cancelled():
            raise
        if isinstance(error, TimeoutError) and limit.expired():
            raise EndOfRolloutError(late) from error
        raise EndOfRolloutError(End(failed, described(error))) from error


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def described(error: BaseException) -> str:
    """The error and the line of code that raised it, as one line."""
    text = " ".join("".join(traceback.format_exception_only(error)).split())
    frames = traceback.extract_tb(error.__traceback__)
    return f"{text} ({PurePath(frames[-1].filename).name}:{frames[-1].lineno})" if frames else text
