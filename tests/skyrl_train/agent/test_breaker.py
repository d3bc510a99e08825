import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from skyrl_train.agent.breaker import TRIES, Breaker, OutageError, Rule
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.outages import Outage
from skyrl_train.contracts.agent.transcript import Transcript

LOST = (Finish.ERROR_INITIALIZATION, Finish.ERROR_RUNTIME, Finish.CMD_TIMEOUT)


class Runtime:
    """A runtime by a clock: down from one moment to another. Rollouts take a second of that clock."""

    def __init__(self, down: tuple[float, float], *, healthy: Callable[[float], bool] | None = None) -> None:
        self.time = 0.0
        self.down = down
        self.healthy = healthy or (lambda now: not down[0] <= now < down[1])
        self.said: list[str] = []
        self.asked: list[float] = []
        self.ran: list[tuple[str, int, float]] = []
        self.breaker = Breaker(
            Rule(window=8, rate=0.5, limit_s=100.0),
            self.said.append,
            now=self.now,
            sleep=self.sleep,
            clock=lambda: 1000.0 + self.time,
        )

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        """The clock goes on by itself, for all who wait."""
        end = self.time + seconds
        while self.time < end:
            await asyncio.sleep(0)
            self.time = min(end, self.time + 0.25)

    async def health(self) -> str:
        self.asked.append(self.time)
        return "" if self.healthy(self.time) else "no answer from http://n:1"

    async def rollout(self, name: str) -> Transcript:
        async def attempt(number: int) -> Transcript:
            self.ran.append((name, number, self.time))
            await self.sleep(1.0)
            is_down = self.down[0] <= self.time < self.down[1]
            return transcript(name, Finish.ERROR_RUNTIME if is_down else Finish.FINISH_TOOL)

        return await self.breaker.run(attempt, self.health)


def transcript(name: str, finish: Finish) -> Transcript:
    return Transcript(
        task_id=name, rollout_id=name, prompt=(), prompt_ids=(), steps=(), finish=finish, detail="connection refused"
    )


def test_the_rollouts_of_one_task_alone_open_no_breaker() -> None:
    """Its image does not start: its rollouts are given up after their tries, and the others go on."""
    said: list[str] = []

    async def run() -> list[Finish]:
        breaker = Breaker(Rule(window=4, rate=0.5, limit_s=60.0), said.append)

        async def one(_: int) -> Transcript:
            return transcript("bad", Finish.ERROR_INITIALIZATION)

        async def well() -> str:
            return ""

        return [(await breaker.run(one, well)).finish for _ in range(8)]

    assert (set(asyncio.run(run())), said) == ({Finish.ERROR_INITIALIZATION}, [])


def all_of(runtime: Runtime, count: int, parallel: int = 4) -> list[Any]:
    async def run() -> list[Any]:
        slots = asyncio.Semaphore(parallel)

        async def one(number: int) -> Transcript:
            async with slots:
                return await runtime.rollout(f"r{number}")

        return await asyncio.gather(*map(one, range(count)), return_exceptions=True)

    return asyncio.run(run())


def test_an_outage_costs_no_rollout() -> None:
    runtime = Runtime(down=(2.5, 40.0))
    ended = all_of(runtime, 24)
    assert {one.finish for one in ended} == {Finish.FINISH_TOOL}
    first, second = runtime.said
    assert first == (
        "TRN022: infrastructure failed 4 of the last 8 rollouts (error_runtime: connection refused); no new rollout begins "
        "until the sandbox runtime can be used, for at most 100 s"
    )
    assert second.startswith("the sandbox runtime can be used again after ")
    assert second.endswith(" s; rollouts go on, and failed ones are repeated")
    (survived,) = runtime.breaker.take_survived()
    assert survived == Outage(
        began_at=survived.began_at, seconds=survived.seconds, why="error_runtime: connection refused"
    )
    assert (1002.5 < survived.began_at < 1006.0, survived.began_at + survived.seconds >= 1040.0) == (True, True)
    assert second.startswith(f"the sandbox runtime can be used again after {survived.seconds:.0f} s")
    assert runtime.breaker.take_survived() == []
    during = [begun for _, _, begun in runtime.ran if 6.0 < begun < 40.0]
    assert during == []
    assert max(runtime.asked) >= 40.0


def test_the_runtime_is_asked_when_the_last_rollout_has_ended() -> None:
    """One that still works goes on to its end, and is kept."""
    runtime = Runtime(down=(0.0, 10.0))

    async def long(_number: int) -> Transcript:
        await runtime.sleep(30.0)
        return transcript("long", Finish.FINISH_TOOL)

    async def run() -> list[Any]:
        others = (runtime.rollout(f"r{number}") for number in range(8))
        return await asyncio.gather(runtime.breaker.run(long, runtime.health), *others)

    assert {one.finish for one in asyncio.run(run())} == {Finish.FINISH_TOOL}
    assert runtime.asked[0] > 30.0


def test_an_outage_that_lasts_ends_every_rollout_with_one_sentence() -> None:
    runtime = Runtime(down=(2.5, 10_000.0))
    ended = all_of(runtime, 40)
    errors = [one for one in ended if isinstance(one, Exception)]
    assert {type(one) for one in errors} == {OutageError}
    assert len({str(one) for one in errors}) == 1
    assert str(errors[0]).startswith("TRN022: infrastructure failed rollouts for 10")
    assert "(sandbox.outage_limit_s is 100): no answer from http://n:1. See the runtime's log" in str(errors[0])
    assert runtime.time < 120.0
    assert runtime.breaker.take_survived() == []


def test_a_runtime_that_says_that_it_is_well_and_still_fails_ends_the_run_too() -> None:
    runtime = Runtime(down=(0.0, 10_000.0), healthy=lambda _now: True)
    ended = all_of(runtime, 40)
    assert {type(one) for one in ended} == {OutageError}
    assert "error_runtime: connection refused" in str(ended[-1])
    assert len(runtime.asked) < 12  # less and less often


def test_a_second_outage_has_the_whole_limit_again() -> None:
    runtime = Runtime(down=(0.0, 60.0))
    all_of(runtime, 8)
    runtime.down = (0.0, runtime.time + 60.0)
    ended = all_of(runtime, 8)
    assert {one.finish for one in ended} == {Finish.FINISH_TOOL}
    assert len(runtime.breaker.take_survived()) == 2


@pytest.mark.parametrize("finish", LOST)
def test_a_rollout_that_fails_alone_is_repeated_a_few_times(finish: Finish) -> None:
    runtime = Runtime(down=(-1.0, -1.0))
    tried: list[int] = []

    async def attempt(number: int) -> Transcript:
        tried.append(number)
        return transcript("r", finish)

    ended = asyncio.run(runtime.breaker.run(attempt, runtime.health))
    assert (ended.finish, tried, runtime.said) == (finish, [*range(TRIES)], [])


@pytest.mark.parametrize("finish", [one for one in Finish if one not in LOST])
def test_an_end_that_is_not_the_runtimes_is_not_repeated(finish: Finish) -> None:
    runtime = Runtime(down=(-1.0, -1.0))

    async def once() -> list[Transcript]:
        async def attempt(number: int) -> Transcript:
            assert number == 0
            return transcript("r", finish)

        return [await runtime.breaker.run(attempt, runtime.health) for _ in range(20)]

    assert {one.finish for one in asyncio.run(once())} == {finish}
    assert runtime.said == []


def test_a_rollout_that_is_cancelled_leaves_the_count_of_those_that_run() -> None:
    """Else the breaker would wait for it until the limit."""
    runtime = Runtime(down=(2.0, 9.0))

    async def run() -> list[Any]:
        never = asyncio.create_task(runtime.breaker.run(lambda _number: asyncio.Event().wait(), runtime.health))  # type: ignore[arg-type,return-value]  # never ends
        await asyncio.sleep(0)
        never.cancel()
        return await asyncio.gather(*(runtime.rollout(f"r{number}") for number in range(12)))

    assert {one.finish for one in asyncio.run(run())} == {Finish.FINISH_TOOL}
    assert runtime.time < 60.0
