"""Grades a rollout in a new sandbox of the same image: of the agent's sandbox only a patch of the repository's files counts.

Tests, their configuration, interpreters and tools are those of the image. Where the results are not sound, a control run
of the unchanged repository tells whether the change is the cause.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from skyrl_train.agent.guard import described
from skyrl_train.contracts.agent.ports import Grade, OpenSandbox, Sandbox, Scorer, Task
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.rewards.r2e import SUMMARY
from skyrl_train.contracts.rewards.score import Score, Scored, Unscorable, UnscorableReason
from skyrl_train.contracts.rewards.suite_run import SuiteRun, obstacle_of
from skyrl_train.contracts.tasks.rows import R2E_GYM
from skyrl_train.contracts.typed import FormatError, parse_object
from skyrl_train.rewards.grader import NO_CHANGES, Changes, GradedRun, changes_in, graded_run
from skyrl_train.rewards.suite import PREPARE_S, TESTS_S, NoTestsError, compare_of, prepare, run_script
from skyrl_train.tasks.r2e_sandbox import FORGET

TRIES = 2
"""A grading sandbox that is lost may be an accident; a second one after the same changes is not."""
_SLOW = 3.0
"""Tests that time out although the control run took less than the limit divided by this were slowed by the change."""
_MOST_CONTROLS = 10_000
_RUNS = "without the change the tests run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The hidden tests of a task. `edits`: protected paths that the task itself changes."""

    expected: str
    source: str = R2E_GYM
    edits: tuple[str, ...] = ()
    limit_s: float = TESTS_S

    @property
    def names(self) -> Collection[str]:
        try:
            return [*parse_object(self.expected)]
        except FormatError:
            return ()

    def score(self, run: SuiteRun, task_id: str) -> Score:
        return compare_of(self.source, task_id)(run, self.expected)


@dataclass(slots=True)
class Controls:
    """The control runs of a process, one for each task."""

    _runs: dict[str, GradedRun] = field(default_factory=dict)
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    async def of(self, task_id: str, run: Callable[[], Awaitable[GradedRun]]) -> GradedRun:
        async with self._locks.setdefault(task_id, asyncio.Lock()):
            if task_id not in self._runs:
                if len(self._runs) >= _MOST_CONTROLS:
                    self._runs.clear()
                self._runs[task_id] = await run()
            return self._runs[task_id]


def fresh(open_sandbox: OpenSandbox, suite: Suite, controls: Controls) -> tuple[OpenSandbox, Scorer]:
    """The agent's sandbox without the tests, and a scorer that takes its changes and grades them in a new sandbox.

    A rollout without tests ends at once (IMG006).
    """
    began: dict[str, int] = {}

    @asynccontextmanager
    async def opened(task: Task) -> AsyncIterator[Sandbox]:
        async with open_sandbox(task) as sandbox:
            began[task.rollout_id] = await hide(sandbox)
            yield sandbox

    async def scorer(sandbox: Sandbox, transcript: Transcript) -> Grade:
        task = Task(id=transcript.task_id, rollout_id=transcript.rollout_id, prompt=())
        grading = Grading(open_sandbox, suite, controls, task)
        try:
            changes = await changes_in(sandbox, since=began.pop(task.rollout_id))
        except Exception as error:  # noqa: BLE001 -- whatever the agent has done to its sandbox; `without_changes` tells
            why = described(error)
            return lambda: grading.without_changes(why)
        return lambda: grading.score(changes)

    return opened, scorer


async def hide(sandbox: Sandbox) -> int:
    """Removes the tests from the sandbox; the time there, in seconds. NoTestsError if there are none or it fails."""
    await prepare(sandbox)
    result = await run_script(sandbox, FORGET, PREPARE_S)
    times = [line.strip() for line in result.text.splitlines() if line.strip().isdecimal()]
    if result.exit_code != 0 or not times:
        raise NoTestsError(f"the tests cannot be removed: {result.text.strip()[-500:]}")
    return int(times[-1])


@dataclass(slots=True)
class Grading:
    """The grading of one rollout. It has one sandbox at a time."""

    open_sandbox: OpenSandbox
    suite: Suite
    controls: Controls
    task: Task
    _opened: int = 0

    async def score(self, changes: Changes) -> Score:
        run, lost = None, ""
        for _ in range(TRIES):
            try:
                run = await self._run(changes)
                break
            except _LostError as error:
                lost = str(error)
        if run is not None and not run.fault:
            return self.suite.score(run.run, self.task.id)
        control = await self._control()
        if run is not None and run.run.timed_out and control.duration_s * _SLOW > self.suite.limit_s:
            return Unscorable(UnscorableReason.TESTS_TIMED_OUT, "the tests timed out, and are slow without the change")
        if control.fault:  # this suite cannot be watched: it has no pytest, or marks all of its tests
            return self._unwatched(run, control, lost)
        return Scored(0.0, f"{run.fault if run else lost}; {_RUNS}")

    def _unwatched(self, run: GradedRun | None, control: GradedRun, lost: str) -> Score:
        """By the output alone. A change that keeps the tests from giving any scores 0, and so does one that ends pytest."""
        if run is None:
            score: Score = Unscorable(UnscorableReason.SANDBOX_FAILED, lost)
        elif control.ended and not run.ended:
            return Scored(0.0, f"{run.fault}; {_RUNS}")
        else:
            score = self._by_output(run, control)
        if isinstance(score, Unscorable) and isinstance(self._by_output(control, control), Scored):
            return Scored(0.0, f"{score.detail}; {_RUNS}")
        return score

    def _by_output(self, run: GradedRun, control: GradedRun) -> Score:
        """R2E-Gym's tests that give no summary without the change either are not its fault."""
        if self.suite.source == R2E_GYM and not any(SUMMARY in each.run.output for each in (run, control)):
            end = control.run.output.strip()[-300:]
            return obstacle_of(run.run, spoke=False) or Unscorable(UnscorableReason.TESTS_NOT_STARTED, end)
        return self.suite.score(run.run, self.task.id)

    async def without_changes(self, why: str) -> Score:
        """The score if the agent's sandbox does not give its changes."""
        control = await self._control()
        if control.fault:
            return Unscorable(UnscorableReason.SANDBOX_FAILED, why)
        return Scored(0.0, f"the changes cannot be read: {why}")

    async def _control(self) -> GradedRun:
        return await self.controls.of(self.task.id, lambda: self._run(NO_CHANGES))

    async def _run(self, changes: Changes) -> GradedRun:
        self._opened += 1
        task = replace(self.task, rollout_id=f"{self.task.rollout_id}-grade{self._opened}")
        suite = self.suite
        async with self.open_sandbox(task) as sandbox:
            await prepare(sandbox)
            try:
                return await graded_run(sandbox, changes, names=suite.names, edits=suite.edits, limit_s=suite.limit_s)
            except Exception as error:
                raise _LostError(f"the grading sandbox was lost: {described(error)}") from error


class _LostError(Exception):
    """The sandbox did not survive the tests."""
