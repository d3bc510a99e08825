"""The two loops that are compared, scored alike on the spot: ours, and verl's own of a single turn.

Neither has a sandbox: ours gets one that only answers that it has tests, so that what is measured is the loop.
"""

# ruff: noqa: TID253 -- imported only by a process that trains

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from verl.experimental.agent_loop import AgentLoopOutput
from verl.experimental.agent_loop.single_turn_agent_loop import SingleTurnAgentLoop

from benchmarks.training_gpu.marks import GO
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.ports import OpenSandbox, Sandbox, Scorer, Task
from skyrl_train.contracts.agent.transcript import Result, Transcript
from skyrl_train.contracts.rewards.score import Score, Scored
from skyrl_train.rl.agent_loop import SkyrlAgentLoop
from skyrl_train.rl.rows import prepared
from skyrl_train.tasks.r2e_sandbox import TESTS_FOUND

POLL_S = 0.2


def reward_of(token_ids: Sequence[int]) -> float:
    """Something of a reply that differs from rollout to rollout."""
    return sum(token_ids) % 7 / 7


async def allowed() -> None:
    path = os.environ.get(GO, "")
    while path and not Path(path).exists():
        await asyncio.sleep(POLL_S)


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

    def sandboxes(self, row: Mapping[str, Any]) -> OpenSandbox:
        del row

        @asynccontextmanager
        async def opened(_task: Task) -> AsyncIterator[Sandbox]:
            yield NoCommands()

        return opened

    def grading(self, row: Mapping[str, Any]) -> tuple[OpenSandbox, Scorer]:
        """Every reply is scored where it is: there is no sandbox to grade in."""

        async def score(_sandbox: Sandbox, transcript: Transcript) -> Score:
            return Scored(reward_of(transcript.response_ids))

        return prepared(self.sandboxes(row)), score


class OwnLoop(SingleTurnAgentLoop):
    """verl's loop as it is, and its reward, for which verl would ask a worker."""

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput:
        output = await super().run(sampling_params, **row)
        output.reward_score = reward_of(output.response_ids)
        output.extra_fields["reward_extra_info"] = {"acc": output.reward_score}
        return output
