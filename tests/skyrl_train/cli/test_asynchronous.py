"""A signal to end cancels the work, wherever it falls."""

import asyncio
import signal

import pytest

from skyrl_train.cli.asynchronous import run_async
from skyrl_train.contracts.command_line import Terminated


def test_a_signal_within_a_callback_is_not_lost() -> None:
    cleaned: list[str] = []

    async def work() -> None:
        asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGTERM)
        try:
            await asyncio.sleep(5)
        finally:
            cleaned.append("up")

    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(Terminated) as end:
            run_async(work())
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (end.value.number, cleaned) == (signal.SIGTERM, ["up"])


def test_an_answer_comes_back_and_a_cancellation_of_ones_own_is_one() -> None:
    async def answer() -> int:
        return 7

    async def cancelled() -> None:
        raise asyncio.CancelledError

    assert run_async(answer()) == 7
    with pytest.raises(asyncio.CancelledError):
        run_async(cancelled())
