"""The watch itself: turn after turn, read what came, ask what is due, judge, write down, act."""

import time
from collections.abc import Callable
from typing import Any

from skyrl_doctor.machine.base import Machine
from skyrl_doctor.watch import actions, job_end
from skyrl_doctor.watch.finding import Cleared, Raised, Said
from skyrl_doctor.watch.follow.follower import Follower
from skyrl_doctor.watch.journal import Books
from skyrl_doctor.watch.observations import Ended, Fill, Observation, Step, Tick
from skyrl_doctor.watch.policy import Deed, decide, with_root
from skyrl_doctor.watch.read.logs import Logs
from skyrl_doctor.watch.rules import all as rules
from skyrl_doctor.watch.rules.conditions import first
from skyrl_doctor.watch.rules.progress import Progress
from skyrl_doctor.watch.sample.base import Samplers
from skyrl_doctor.watch.settings import Settings
from skyrl_doctor.watch.sink.prom import Health
from skyrl_doctor.watch.state import Memory

SAVE_S = 15.0
HEALTH_S = 10.0
LOOK_S = 1.0
BEHIND_S = 0.02
KEPT_REWARDS = 40


class Watch:
    """One turn is `turn`; `run` is turns until the job ends. `clock` gives seconds since the epoch."""

    def __init__(
        self,
        settings: Settings,
        machine: Machine,
        *,
        books: Books,
        follower: Follower,
        samplers: Samplers,
        target: actions.Target,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.settings, self._machine, self._clock = settings, machine, clock
        self._books, self._follower, self._samplers, self._target = books, follower, samplers, target
        self._logs = Logs()
        memory = books.memory
        self._states, self._case = memory.states, memory.case
        self.begun_at = memory.begun_at
        self.open: dict[str, Raised] = {}
        self.roots: list[Raised] = []
        self.fills: dict[str, tuple[float, float]] = {}
        self.last_step: Step | None = None
        self.rewards: tuple[float, ...] = ()
        self._ending = job_end.Ending()
        self._next: dict[str, float] = {}

    @property
    def progress(self) -> Progress:
        progress: Progress = self._states["stall"].progress
        return progress

    @property
    def over(self) -> str:
        """Why the job is over; "" while it is not."""
        return self._ending.why if job_end.is_over(self._ending, self._clock()) else ""

    @property
    def behind(self) -> bool:
        return self._follower.behind

    @property
    def asking(self) -> bool:
        """Whether a sampler has not answered yet."""
        return self._samplers.running

    def turn(self) -> None:
        now = self._clock()
        if self.begun_at is None:
            self.begun_at = now
            self._books.note("start", now, job_dir=self.settings.job_dir, policy=self.settings.policy.value)
        for lines in self._follower.turn(now):
            self._ending = job_end.grown(self._ending, now)
            for seen in self._logs.take(lines, now):
                self._judge(seen)
        for notice in self._follower.notices():
            self._books.trouble(notice, now)
        observations, troubles = self._samplers.collect(now)
        for seen in observations:
            self._judge(seen)
        for trouble in troubles:
            self._books.trouble(f"{trouble.name}: {trouble.why}", now)
        self._judge(Tick(at=now))
        self._end_of_turn(now)

    def finish(self, why: str) -> None:
        """The last turn: all that the logs hold is read."""
        now = self._clock()
        for _ in range(2000):
            self.turn()
            if not self._follower.behind:
                break
        self._judge(Ended(at=now, why=why))
        self._books.note("end", now, why=why)
        self._save(now)
        self._books.health(self._health(now, ended=True))
        self._books.close()
        self._follower.close()

    def _end_of_turn(self, now: float) -> None:
        self._act(now)
        if self._is_due("look", now, LOOK_S):
            alive = [actions.is_alive(self._machine, one) for one in self._target.processes]
            self._ending = job_end.looked(self._ending, self.settings.job_dir, now, alive=any(alive) if alive else None)
        if self._is_due("health", now, HEALTH_S):
            self._books.health(self._health(now, ended=False))
        if self._is_due("save", now, SAVE_S):
            self._save(now)

    def _judge(self, seen: Observation) -> None:
        self._ending = job_end.noted(self._ending, seen)
        if isinstance(seen, Fill):
            self.fills[f"{seen.kind} {seen.name}"] = (seen.used, seen.limit)
        elif isinstance(seen, Step):
            self.last_step = seen
            reward = first(seen.metrics, "critic/score/mean", "critic/rewards/mean")
            self.rewards = self.rewards if reward is None else (*self.rewards, reward)[-KEPT_REWARDS:]
        self._states, said = rules.judge(self._states, seen)
        for one in said:
            self._said(one)

    def _said(self, one: Said) -> None:
        if isinstance(one, Cleared):
            self.open.pop(one.key, None)
        else:
            self.open[one.key] = one
            if one.root:
                self.roots.append(one)
                self._case = with_root(self._case, one)
        if self._books.said(one):
            self._next.pop("save", None)
            self._next.pop("health", None)

    def _act(self, now: float) -> None:
        case, deed = decide(
            self._case, self.settings.policy, self.settings.limits, now=now, progress_at=self.progress.at
        )
        if deed is None:
            self._case = case
            return
        # The state is on disk before the deed: a watch that takes over must not ask twice.
        self._case = case
        self._save(now)
        self._do(deed, now)

    def _do(self, deed: Deed, now: float) -> None:
        why = f"{self._case.id}: {self._case.why}"
        for text in actions.do(self._machine, deed, self._target, why, dry=self.settings.dry_run):
            self._books.trouble(f"{text}, for {why}", None)
            self._books.note("action", now, deed=deed.value, done=text, why=why, dry_run=self.settings.dry_run)

    def _save(self, now: float) -> None:
        self._next["save"] = now + SAVE_S
        self._books.save(
            Memory(
                marks=tuple(self._follower.marks()),
                states=self._states,
                said=self._books.counts(),
                case=self._case,
                begun_at=self.begun_at,
            )
        )

    def _health(self, now: float, *, ended: bool) -> Health:
        return Health(
            job=self.settings.job_dir,
            at=now,
            open=tuple(self.open.values()),
            progress=self.progress,
            fills=self.fills,
            webhook_failures=self._books.webhook_failures,
            unwritten_events=self._books.unwritten,
            ended=ended,
        )

    def _is_due(self, what: str, now: float, every_s: float) -> bool:
        if now < self._next.get(what, now):
            return False
        self._next[what] = now + every_s
        return True


def run(watch: Watch, *, sleep: Callable[[float], Any], goes_on: Callable[[], bool]) -> str:
    """Turns until the job is over, or until nobody wants it to go on; why the job ended, "" where it did not."""
    while goes_on():
        begun = time.monotonic()
        watch.turn()
        if watch.over:
            return watch.over
        spent = time.monotonic() - begun
        sleep(BEHIND_S if watch.behind else max(0.05, watch.settings.tick_s - spent))
    return ""
