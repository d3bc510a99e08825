"""Runs the rollouts of an evaluation that have not ended yet, with the agent loop and the limits of training."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skyrl_train.agent.loop import rollout
from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.agent.finish import INFRASTRUCTURE
from skyrl_train.contracts.agent.pass_rates import Outcome, as_json, by_repository, pass_rates
from skyrl_train.contracts.agent.ports import Model, OpenSandbox
from skyrl_train.contracts.agent.tools import TOOLS
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.rewards.score import Scored
from skyrl_train.evaluation.kept import Kept
from skyrl_train.rewards.fresh import Controls
from skyrl_train.rl.rows import graded, repository_of, task_of
from skyrl_train.rl.shared import limits_of

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What is evaluated: `samples` rollouts of each row."""

    rows: Sequence[Row]
    samples: int
    config: RunConfig
    model_of: Callable[[str, int, int], Model]
    """A rollout's model, by its id, its row's number and its sample."""
    sandboxes_of: Callable[[Row], OpenSandbox]
    ended: Callable[[Transcript], None] = lambda _transcript: None
    """Called after each rollout."""
    controls: Controls = field(default_factory=Controls)


def rollout_id(row: int, sample: int) -> str:
    return f"{row}-{sample}"


def outstanding(evaluation: Evaluation, done: Mapping[str, Transcript]) -> list[tuple[int, int]]:
    """Rollouts without a result: new ones, and those that infrastructure failed."""
    return [
        (row, sample)
        for sample in range(evaluation.samples)
        for row in range(len(evaluation.rows))
        if (found := done.get(rollout_id(row, sample))) is None or found.finish in INFRASTRUCTURE
    ]


async def evaluate(evaluation: Evaluation, kept: Kept) -> None:
    """Runs what is outstanding. Each rollout is stored when it ends, so that a later call continues."""
    slots = asyncio.Semaphore(evaluation.config.agent.max_parallel)
    limits, names = limits_of(evaluation.config), evaluation.config.agent.tools
    tools = [tool for tool in TOOLS if tool.name in names]

    async def one(number: int, sample: int) -> None:
        row, name = evaluation.rows[number], rollout_id(number, sample)
        async with slots:
            opened, scorer = graded(row, evaluation.sandboxes_of(row), evaluation.config, evaluation.controls)
            model = evaluation.model_of(name, number, sample)
            transcript = await rollout(task_of(row, name), model, opened, limits, scorer=scorer, tools=tools)
        await asyncio.to_thread(kept.add, transcript)
        evaluation.ended(transcript)

    try:
        async with asyncio.TaskGroup() as group:
            for number, sample in outstanding(evaluation, kept.done):
                group.create_task(one(number, sample))
    except ExceptionGroup as failed:  # a full disk: all rollouts fail with the same error
        raise failed.exceptions[0] from None


def outcome_of(row: Row, number: int, transcript: Transcript) -> Outcome:
    """A rollout that was cut off by one of its own limits has not solved its task; one without infrastructure says nothing."""
    score = transcript.score
    solved = isinstance(score, Scored) and score.reward == 1.0
    return Outcome(
        task=str(number),
        repository=repository_of(row),
        solved=None if transcript.finish in INFRASTRUCTURE else solved,
    )


def report_of(evaluation: Evaluation, done: Mapping[str, Transcript], ks: Sequence[int]) -> dict[str, object]:
    """The rates of all rollouts that have ended, and how they ended."""
    ended = [
        (number, row, done[name])
        for sample in range(evaluation.samples)
        for number, row in enumerate(evaluation.rows)
        if (name := rollout_id(number, sample)) in done
    ]
    outcomes = [outcome_of(row, number, transcript) for number, row, transcript in ended]
    ends: dict[str, int] = {}
    for _, _, transcript in ended:
        ends[transcript.finish] = ends.get(transcript.finish, 0) + 1
    return {
        "format": 1,
        "missing": len(evaluation.rows) * evaluation.samples - len(ended),
        **as_json(pass_rates(outcomes, ks)),
        "ends": dict(sorted(ends.items())),
        "repositories": {name: as_json(rates) for name, rates in by_repository(outcomes, ks).items()},
    }
