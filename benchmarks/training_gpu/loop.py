"""The two loops that are compared, scored alike on the spot: ours, and verl's own of a single turn.

Neither has a sandbox: ours gets one that only answers that it has tests, so that what is measured is the loop.
"""

# ruff: noqa: TID253 -- imported only by a process that trains

import asyncio
import os
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from verl.experimental.agent_loop import AgentLoopOutput
from verl.experimental.agent_loop.single_turn_agent_loop import SingleTurnAgentLoop

from benchmarks.training_gpu.marks import GO, TAIL
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.ports import OpenSandbox, Sandbox, Scorer, Task
from skyrl_train.contracts.agent.transcript import Result, Transcript
from skyrl_train.contracts.rewards.score import Score, Scored
from skyrl_train.rl.agent_loop import SkyrlAgentLoop
from skyrl_train.rl.rows import prepared
from skyrl_train.tasks.r2e_sandbox import TESTS_FOUND

POLL_S = 0.2
SPREAD, RARE, LONGER = 0.7, 20, 10
"""Tool times are log-normal, and one rollout in twenty takes ten times as long."""


def reward_of(token_ids: Sequence[int]) -> float:
    """Something of a reply that differs from rollout to rollout."""
    return sum(token_ids) % 7 / 7


async def allowed() -> None:
    path = os.environ.get(GO, "")
    while path and not Path(path).exists():
        await asyncio.sleep(POLL_S)


def tools_s(row: int, sample: int, median_s: float) -> float:
    """The seconds of a rollout's tools: the same in each run."""
    draw = random.Random(f"{row}-{sample}")
    longer = LONGER if draw.randrange(RARE) == 0 else 1
    return median_s * draw.lognormvariate(0.0, SPREAD) * longer


class NoCommands:
    """A sandbox of which nothing is asked but whether it has tests."""

    async def run(self, action: Action, *, limit_s: float) -> Result:
        del action, limit_s
        return Result(text=TESTS_FOUND, exit_code=0)


class BareLoop(SkyrlAgentLoop):
    """One reply without a call ends a rollout, and it is trained on: random weights call nothing."""

    def __init__(self, *args: Any, job_dir: str, **words: Any) -> None:
        super().__init__(*args, job_dir=job_dir, **words)
        self._shared = replace(self._shared, limits=replace(self._shared.limits, idle_turns=1))

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> list[AgentLoopOutput]:
        await allowed()
        return await super().run(sampling_params, **row)

    def tools_s(self, row: Mapping[str, Any]) -> float:
        return tools_s(int(row["index"]), int(row["session_id"]), float(os.environ.get(TAIL) or 0))

    def sandboxes(self, row: Mapping[str, Any]) -> OpenSandbox:
        """Half of the time of tools goes before the reply, and half after it."""

        @asynccontextmanager
        async def opened(_task: Task) -> AsyncIterator[Sandbox]:
            await asyncio.sleep(self.tools_s(row) / 2)
            yield NoCommands()

        return opened

    def grading(self, row: Mapping[str, Any]) -> tuple[OpenSandbox, Scorer]:
        """Every reply is scored where it is: there is no sandbox to grade in."""

        async def score(_sandbox: Sandbox, transcript: Transcript) -> Score:
            await asyncio.sleep(self.tools_s(row) / 2)
            return Scored(reward_of(transcript.response_ids))

        return prepared(self.sandboxes(row)), score


class OwnLoop(SingleTurnAgentLoop):
    """verl's loop as it is, and its reward, for which verl would ask a worker."""

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput:
        output = await super().run(sampling_params, **row)
        output.reward_score = reward_of(output.response_ids)
        output.extra_fields["reward_extra_info"] = {"acc": output.reward_score}
        return output
