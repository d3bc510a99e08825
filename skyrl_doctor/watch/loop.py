"""The watch: each turn reads new log lines, collects samples, judges, writes events and acts."""

import functools
import math
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.watch import actions, job_end
from skyrl_doctor.watch.changes import with_settings
from skyrl_doctor.watch.figures import PLOTTED
from skyrl_doctor.watch.finding import Alert, Cleared, Update
from skyrl_doctor.watch.follow.follower import Follower
from skyrl_doctor.watch.follow.tail import Lines
from skyrl_doctor.watch.journal import Journal
from skyrl_doctor.watch.last_line import last_line_time
from skyrl_doctor.watch.observations import Ended, Fill, Observation, Step, Tick
from skyrl_doctor.watch.policy import Action, decide, with_root
from skyrl_doctor.watch.read.logs import Logs
from skyrl_doctor.watch.rules import all as rules
from skyrl_doctor.watch.rules.progress import START, Progress, patience_s
from skyrl_doctor.watch.rules.stall import STACKS_AFTER
from skyrl_doctor.watch.sample.base import Look, Sampler, Samplers
from skyrl_doctor.watch.settings import Settings
from skyrl_doctor.watch.sink import screen
from skyrl_doctor.watch.sink.prom import Health
from skyrl_doctor.watch.state import Memory
from skyrl_doctor.watch.unmatched_end import UnmatchedEnd, unmatched_end

SAVE_S = 15.0
HEALTH_S = 10.0
LOOK_S = 1.0
BACKLOG_S = 0.02
TAIL_BYTES = 4096
KEPT_STEPS, KEPT_LINES = 500, 200


class Watch:
    """`turn` does one turn; `run` does turns until the job ends. `clock` gives seconds since the epoch, `plan` the job's
    configuration, which is read when an alert first needs it, `stacks` looks at the processes that write the given logs."""

    def __init__(
        self,
        settings: Settings,
        machine: Machine,
        *,
        journal: Journal,
        follower: Follower,
        samplers: Samplers,
        target: actions.Target,
        plan: Callable[[], Plan] = Plan,
        stacks: Callable[[Sequence[str]], Look] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.settings, self._machine, self._clock = settings, machine, clock
        self._journal, self._follower, self._samplers, self._target = journal, follower, samplers, target
        self._logs, self._stacks = Logs(), stacks
        self._plan = functools.cache(plan)
        memory = journal.memory
        self._states, self._case = memory.states, memory.case
        self.begun_at = memory.begun_at
        self.open: dict[str, Alert] = dict(journal.open)
        self.roots: list[Alert] = []
        self.fills: dict[str, tuple[float, float]] = {}
        self.last_step: Step | None = None
        self.history: dict[str, deque[float]] = {name: deque(maxlen=KEPT_STEPS) for name in PLOTTED}
        self.tail: deque[str] = deque(maxlen=KEPT_LINES)
        self._end = job_end.JobEnd()
        self._next: dict[str, float] = {}
        self._steps: list[Step] = []
        self.unmatched: UnmatchedEnd | None = None
        self._is_live = False
        """Whether all that was logged before this turn was read."""

    @property
    def progress(self) -> Progress:
        progress: Progress = self._states["stall"].progress
        return progress

    @property
    def over(self) -> str:
        """Why the job is over; "" while it runs."""
        return self._end.why if job_end.is_over(self._end, self._clock()) else ""

    @property
    def has_backlog(self) -> bool:
        return self._follower.has_backlog

    @property
    def asking(self) -> bool:
        """Whether a sampler is still waiting for an answer."""
        return self._samplers.running

    def turn(self) -> None:
        now = self._clock()
        if self.begun_at is None:
            self.begun_at = now
            self._journal.note("start", now, job_dir=self.settings.job_dir, policy=self.settings.policy.value)
        for lines in self._follower.turn(now):
            self._end = job_end.after_growth(self._end, now)
            self._keep(lines)
            for seen in self._logs.take(lines, now):
                self._judge(seen)
        self._print_steps()
        for notice in self._follower.notices():
            self._journal.warn(notice, now)
        observations, troubles = self._samplers.collect(now)
        for seen in observations:
            self._judge(seen)
        for trouble in troubles:
            self._journal.warn(f"{trouble.name}: {trouble.why}", now)
        self._judge(Tick(at=now))
        self._end_of_turn(now)

    def _keep(self, lines: Lines) -> None:
        """Keeps the ends of the logs for the live view."""
        name = os.path.basename(lines.path)
        last = lines.text[-TAIL_BYTES:].decode("utf-8", "replace").splitlines()[-20:]
        self.tail.extend(f"{name}: {line[:400]}" for line in last if line.strip())

    def _print_steps(self) -> None:
        for text in screen.steps(self._steps, all_of_them=self._is_live):
            self._journal.say(text)
        self._steps = []
        self._is_live = not self._follower.has_backlog

    def print_open(self) -> None:
        """Prints what is open at the end of a single pass. Where no root cause is, `diagnose` judges the logs."""
        places = (self.settings.place, *self.settings.logs)
        if not any(one.root for one in self.open.values()):
            self.unmatched = unmatched_end(
                places,
                over=self._end.over_at is not None,
                patience_s=patience_s(self.progress),
                only_final=self.settings.writes,
                clock=self._clock,
            )
        for text in screen.still_open(
            self.open,
            earlier=self._journal.open,
            unmatched=self.unmatched,
            what=self.progress.what,
            last_line=last_line_time(places) if self.progress.what == START else "",
        ):
            self._journal.say(text)

    @property
    def exit_status(self) -> int:
        """1 where a root cause was found or is still open; in a single pass, where one is open or an error ended the run."""
        found = bool(self.roots) and not self.settings.once
        ended = self.unmatched is not None and self.unmatched.final
        return int(found or ended or any(one.root for one in self.open.values()))

    def finish(self, why: str) -> None:
        """The last turn: reads all logs to their ends."""
        now = self._clock()
        for _ in range(2000):
            self.turn()
            if not self._follower.has_backlog:
                break
        self._judge(Ended(at=now, why=why))
        self._journal.note("end", now, why=why)
        self._save(now)
        self._journal.health(self._health(now, ended=True))
        self._journal.close()
        self._follower.close()

    def _end_of_turn(self, now: float) -> None:
        self._act(now)
        if self._is_due("look", now, LOOK_S):
            alive = [actions.is_alive(self._machine, one) for one in self._target.processes]
            self._end = job_end.after_check(self._end, self.settings.job_dir, now, alive=any(alive) if alive else None)
        if self._is_due("health", now, HEALTH_S):
            self._journal.health(self._health(now, ended=False))
        if self._is_due("save", now, SAVE_S):
            self._save(now)

    def _judge(self, seen: Observation) -> None:
        self._end = job_end.after_observation(self._end, seen)
        if isinstance(seen, Fill):
            self.fills[f"{seen.kind} {seen.name}"] = (seen.used, seen.limit)
        elif isinstance(seen, Step):
            self.last_step = seen
            self._steps.append(seen)
            for name, figure in PLOTTED.items():
                value = figure.value(seen.metrics)
                if value is not None and math.isfinite(value):
                    self.history[name].append(value)
        self._states, updates = rules.judge(self._states, seen)
        for one in updates:
            self._take(one)

    def _take(self, one: Update) -> None:
        if isinstance(one, Alert) and one.changes:
            one = with_settings(one, self._plan())
        if isinstance(one, Cleared):
            self.open.pop(one.key, None)
        else:
            self.open[one.key] = one
            if one.root:
                self.roots.append(one)
                self._case = with_root(self._case, one)
        if self._journal.record(one):
            self._next.pop("save", None)
            self._next.pop("health", None)
        if one.key in STACKS_AFTER and isinstance(one, Alert) and self._stacks is not None:
            look = self._stacks(self._follower.paths())
            self._samplers.once(Sampler("the stacks of the job", 0.0, look), self._clock())

    def _act(self, now: float) -> None:
        case, action = decide(
            self._case, self.settings.policy, self.settings.limits, now=now, progress_at=self.progress.at
        )
        if action is None:
            self._case = case
            return
        # The state is saved before the action: a watch that takes over must not act twice.
        self._case = case
        self._save(now)
        self._run(action, now)

    def _run(self, action: Action, now: float) -> None:
        why = f"{self._case.id}: {self._case.why}"
        for text in actions.run(self._machine, action, self._target, why, dry=self.settings.dry_run):
            self._journal.warn(f"{text} because of {why}", None)
            self._journal.note("action", now, deed=action.value, done=text, why=why, dry_run=self.settings.dry_run)

    def _save(self, now: float) -> None:
        self._next["save"] = now + SAVE_S
        self._journal.save(
            Memory(
                marks=tuple(self._follower.marks()),
                states=self._states,
                reported=self._journal.counts(),
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
            webhook_failures=self._journal.webhook_failures,
            unwritten_events=self._journal.unwritten,
            ended=ended,
        )

    def _is_due(self, what: str, now: float, every_s: float) -> bool:
        if now < self._next.get(what, now):
            return False
        self._next[what] = now + every_s
        return True


def run(watch: Watch, *, sleep: Callable[[float], Any], goes_on: Callable[[], bool]) -> str:
    """Turns until the job is over or `goes_on` is false. Returns why the job ended; "" where it did not."""
    while goes_on():
        begun = time.monotonic()
        watch.turn()
        if watch.over:
            return watch.over
        spent = time.monotonic() - begun
        sleep(BACKLOG_S if watch.has_backlog else max(0.05, watch.settings.tick_s - spent))
    return ""
