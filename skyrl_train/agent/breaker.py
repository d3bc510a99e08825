"""Stops new rollouts while infrastructure fails, asks the runtime until it is back, and repeats what failed meanwhile.

Without it, a step is trained on what is left of it, or draws new prompts into the same failure.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from skyrl_train.contracts.agent.finish import OUTAGE
from skyrl_train.contracts.agent.outages import Outage
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.errors import TrainError

FIRST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 60.0
DRAIN_POLL_S = 0.5
TRIES = 3

Health = Callable[[], Awaitable[str]]
"""Why the runtime cannot be used now; empty if it can."""


class OutageError(TrainError):
    """Infrastructure failed for longer than the configuration allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Opens when `rate` of the last `window` rollouts failed; the run ends after `limit_s` without one that did not."""

    window: int
    rate: float
    limit_s: float

    @property
    def most(self) -> int:
        """So many failures open the breaker, also before the window is full."""
        return max(1, round(self.rate * self.window))


class Breaker:
    """Of the rollouts of one process. Its methods run in one event loop."""

    def __init__(
        self,
        rule: Rule,
        say: Callable[[str], None],
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._rule, self._say, self._now, self._sleep, self._clock = rule, say, now, sleep, clock
        self._ends: deque[str] = deque(maxlen=rule.window)
        """For each of the last rollouts the task that failed; empty if it did not."""
        self._running = 0
        self._outage: asyncio.Task[None] | None = None
        self._since: float | None = None
        """The begin of the outage. It ends with the first rollout that infrastructure lets through."""
        self._began_at = self._usable_s = 0.0
        """Of the outage: its begin by the clock of all processes, and the seconds until the runtime could be used."""
        self._first = ""
        """What failed when the outage began."""
        self._survived: list[Outage] = []
        self._pauses = self._outages = 0
        self._over: str = ""
        """Why no rollout runs any more."""

    async def run(self, attempt: Callable[[int], Awaitable[Transcript]], health: Health) -> Transcript:
        """The transcript of a rollout. Its attempts are numbered; those that infrastructure failed are repeated.

        A rollout that fails alone is repeated up to TRIES times, one that fails in an outage until the outage is over.
        Raises OutageError, for this and all later rollouts, if that takes too long.
        """
        number = tries = outages = 0
        while True:
            await self._closed()
            if outages != self._outages:
                outages, tries = self._outages, 0
            self._running += 1
            try:
                transcript = await attempt(number)
            finally:
                self._running -= 1
            self._note(transcript, health)
            tries += outages == self._outages
            if transcript.finish not in OUTAGE or tries == TRIES:
                return transcript
            number += 1

    def take_survived(self) -> list[Outage]:
        """The outages that have ended since the last call."""
        taken, self._survived = self._survived, []
        return taken

    async def _closed(self) -> None:
        """Waits while the breaker is open."""
        while self._outage is not None:
            await asyncio.shield(self._outage)
        if self._over:
            raise OutageError(self._over)

    def _note(self, transcript: Transcript, health: Health) -> None:
        failed = transcript.finish in OUTAGE
        self._ends.append(transcript.task_id if failed else "")
        failures = [task for task in self._ends if task]
        if not failed:
            if self._since is not None and self._outage is None:
                self._survived.append(Outage(began_at=self._began_at, seconds=self._usable_s, why=self._first))
                self._since, self._pauses = None, 0
        elif self._outage is None and len(failures) >= self._rule.most and len({*failures}) > 1:
            # the rollouts of one task share its image: where they alone fail, that is the task's fault
            why = f"{transcript.finish}: {transcript.detail}"[:300]
            self._say(
                f"TRN022: infrastructure failed {len(failures)} of the last {len(self._ends)} rollouts ({why}); no new rollout "
                f"begins until the sandbox runtime can be used, for at most {self._rule.limit_s:g} s"
            )
            if self._since is None:
                self._since, self._began_at, self._first = self._now(), self._clock(), why
            self._outages += 1
            self._outage = asyncio.get_running_loop().create_task(self._until_usable(health, why))

    async def _until_usable(self, health: Health, why: str) -> None:
        """Drains, asks, and closes the breaker, also where it raises."""
        try:
            await self._waited(health, why)
        finally:
            self._ends.clear()
            self._outage = None

    async def _waited(self, health: Health, why: str) -> None:
        since = self._now() if self._since is None else self._since
        drained = self._now()
        while self._running:  # each has its own time limit
            await self._sleep(DRAIN_POLL_S)
        end = since + self._rule.limit_s + self._now() - drained
        while self._now() < end:
            # a runtime that answers and still fails is asked less and less often
            await self._sleep(min(FIRST_PAUSE_S * 2**self._pauses, LONGEST_PAUSE_S, max(0.0, end - self._now())))
            self._pauses += 1
            answer = await health()
            if not answer:
                self._usable_s = self._now() - since
                self._say(
                    f"the sandbox runtime can be used again after {self._usable_s:.0f} s; rollouts go on, and failed ones "
                    "are repeated"
                )
                return
            why = answer
        self._over = (
            f"TRN022: infrastructure failed rollouts for {self._now() - since:.0f} s (sandbox.outage_limit_s is "
            f"{self._rule.limit_s:g}): {why}. See the runtime's log; the run can be resumed from its last checkpoint"
        )
