"""One server for each store; the next one of a server that was killed waits until it is really gone."""

import asyncio
import os
from pathlib import Path

import pytest

from fakes.runtime import asynchronous
from skyrl_train.contracts.errors import UsageError
from skyrl_train.sandbox.runtime.server_lock import only_one


@asynchronous
async def test_a_second_server_is_refused_with_the_process_of_the_first(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    async with only_one(state):
        with pytest.raises(UsageError) as refused:
            async with only_one(state, limit_s=0):
                raise AssertionError
    assert str(refused.value) == (
        f"another runtime server of this job (process {os.getpid()}) holds {state}/lock; stop it first"
    )
    async with only_one(state, limit_s=0):
        pass


@asynchronous
async def test_a_server_that_still_dies_is_waited_for(tmp_path: Path) -> None:
    """Its threads hold its files for a moment after it is seen to be gone."""
    dying, over = only_one(str(tmp_path)), asyncio.Event()
    await dying.__aenter__()

    async def following() -> None:
        async with only_one(str(tmp_path)):
            over.set()

    task = asyncio.create_task(following())
    await asyncio.sleep(0)
    assert not over.is_set()
    await dying.__aexit__(None, None, None)
    await task
    assert over.is_set()
