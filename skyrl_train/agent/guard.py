"""Limits what other people's code can do to a rollout: a time limit, and an end where it raises."""

import asyncio
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePath

from skyrl_train.contracts.agent.finish import Finish


@dataclass(frozen=True, slots=True)
class End:
    """How a rollout ended. FIX(AGT004): it is a field of the record, and never an argument of an action."""

    finish: Finish
    detail: str = ""


class EndOfRolloutError(Exception):
    """Ends this rollout, and no other one."""

    def __init__(self, end: End) -> None:
        super().__init__(end)
        self.end = end


@asynccontextmanager
async def guarded(seconds: float, *, late: End, failed: Finish) -> AsyncIterator[None]:
    """Ends the rollout with `late` where the body takes longer, and with `failed` where it raises.

    FIX(AGT017): models, sandboxes and scorers may raise anything, and one exception in a gathered batch would take the
    other rollouts with it. A cancellation from outside goes through untouched; one that nobody asked this task for is a
    client that was closed while it waited.
    """
    try:
        async with asyncio.timeout(seconds) as limit:
            yield
    except EndOfRolloutError:
        raise
    except (Exception, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and _asked_to_end():
            raise
        if isinstance(error, TimeoutError) and limit.expired():
            raise EndOfRolloutError(late) from error
        raise EndOfRolloutError(End(failed, described(error))) from error


def _asked_to_end() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def described(error: BaseException) -> str:
    """The error and the line that raised it, in one line."""
    text = " ".join("".join(traceback.format_exception_only(error)).split())
    frames = traceback.extract_tb(error.__traceback__)
    return f"{text} ({PurePath(frames[-1].filename).name}:{frames[-1].lineno})" if frames else text
