"""Background tasks: kept, reported when they crash, and cancelled at the end."""

import asyncio

from fakes.runtime import asynchronous
from skyrl_train.sandbox.runtime.events import Events
from skyrl_train.sandbox.runtime.tasks import Tasks


@asynchronous
async def test_a_crash_becomes_an_event() -> None:
    events = Events(lambda: 1.0)

    async def crash() -> None:
        raise ValueError("broken")

    tasks = Tasks(events)
    tasks.start(crash(), "start s1")
    while not events.after(0):
        await asyncio.sleep(0)
    assert events.after(0) == [
        {"number": 1, "time": 1.0, "event": "crashed", "task": "start s1", "error": "ValueError('broken')"}
    ]


@asynchronous
async def test_work_that_outlives_its_limit_goes_on_until_it_is_cancelled() -> None:
    ended: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    tasks = Tasks(Events(lambda: 1.0))
    await tasks.start_and_wait(wait(), "wait", limit_s=0.01)
    assert ended == []
    await tasks.cancel_all()
    assert ended == ["cancelled"]
