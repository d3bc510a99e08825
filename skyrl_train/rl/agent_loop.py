"""Runs our agent as an agent loop of verl: each rollout gives one row of a batch or none."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import transfer_queue
from verl.experimental.agent_loop import AgentLoopBase, AgentLoopOutput
from verl.experimental.agent_loop.agent_loop import AgentLoopMetrics

from skyrl_train.agent import journal
from skyrl_train.agent.breaker import OutageError
from skyrl_train.agent.guard import described
from skyrl_train.agent.loop import rollout
from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.agent.ports import OpenSandbox, Scorer, Task
from skyrl_train.contracts.agent.tools import TOOLS
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.run_log import say
from skyrl_train.rl import ends
from skyrl_train.rl.engine import EngineModel
from skyrl_train.rl.rows import graded, repository_of, task_of
from skyrl_train.rl.seeds import reply_seed
from skyrl_train.rl.shared import Shared, client, runtime_sandboxes, shared
from skyrl_train.rl.trained import Trained, trained


class SkyrlAgentLoop(AgentLoopBase):
    """verl makes one for every rollout, from the file in `agent_loop_config_path`."""

    def __init__(self, *args: Any, job_dir: str, **words: Any) -> None:
        super().__init__(*args, **words)
        self._job_dir = job_dir
        self._shared: Shared = shared(job_dir)

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> list[AgentLoopOutput]:
        """Runs a rollout. An empty list if there is nothing to train on, so that verl's batch gets no row for it."""
        try:
            return await self._run(sampling_params, row)
        except OutageError as error:
            await self._record_end(row, ends.tag_of_stop(str(error), row=int(row["index"])))
            raise
        except Exception as error:
            # verl's log has the traceback; this records the reason for the step without this rollout
            await self._record_end(row, ends.tag_of_raised(described(error), row=int(row["index"])))
            raise

    async def _run(self, sampling_params: dict[str, Any], row: Mapping[str, Any]) -> list[AgentLoopOutput]:
        uid, session = str(row["uid"]), int(row["session_id"])
        made_of: list[EngineModel] = []

        async def attempt(number: int) -> Transcript:
            """A repeated rollout has a sandbox of its own, and the same seeds."""
            task = task_of(row, f"{uid}-{session}" + (f"-again{number}" if number else ""))
            made_of.append(self._model(task, sampling_params, row))
            opened, scorer = self.grading(row)
            names = self._shared.config.agent.tools
            tools = [tool for tool in TOOLS if tool.name in names]
            return await rollout(task, made_of[-1], opened, self._shared.limits, scorer=scorer, tools=tools)

        async with self._shared.slots:
            transcript = await self._shared.breaker.run(attempt, self.health)
        made = trained(transcript)
        await self._record_end(row, ends.tag_of(transcript, made, row=int(row["index"]), repository=repository_of(row)))
        await asyncio.to_thread(self._keep, transcript, int(row["global_steps"]))
        return [self._output(made, made_of[-1], transcript)] if isinstance(made, Trained) else []

    def _model(self, task: Task, sampling_params: dict[str, Any], row: Mapping[str, Any]) -> EngineModel:
        return EngineModel(
            self.server_manager,
            self.tokenizer,
            request_id=task.rollout_id,
            sampling=sampling_params,
            stop=self._shared.config.rollout.stop,
            seed_of=seed_of(row, self._shared.config),
        )

    async def _record_end(self, row: Mapping[str, Any], tag: dict[str, object]) -> None:
        tag = ends.with_outages(tag, self._shared.breaker.take_survived())
        key = f"{row['uid']}_{row['session_id']}"
        await transfer_queue.async_kv_put(key=key, partition_id=ends.PARTITION, tag=tag)

    def sandboxes(self, row: Mapping[str, Any]) -> OpenSandbox:
        """The sandboxes of the row's rollouts."""
        return runtime_sandboxes(self._job_dir, str(row["extra_info"]["image"]))

    async def health(self) -> str:
        """Why the runtime cannot be used now; empty if it can."""
        return await client(self._job_dir).health()

    def grading(self, row: Mapping[str, Any]) -> tuple[OpenSandbox, Scorer]:
        """The agent's sandboxes and their scorer."""
        return graded(row, self.sandboxes(row), self._shared.config, self._shared.controls)

    def _keep(self, transcript: Transcript, step: int) -> None:
        """Stores the transcript. A full disk loses the transcript, not the rollout."""
        try:
            self._shared.journals.mkdir(parents=True, exist_ok=True)
            journal.append(self._shared.journals / f"step_{step}.jsonl", transcript)
        except OSError as error:
            say(f"the transcript of {transcript.rollout_id} could not be written: {error}")

    def _output(self, made: Trained, model: EngineModel, transcript: Transcript) -> AgentLoopOutput:
        return AgentLoopOutput(
            prompt_ids=made.prompt_ids,
            response_ids=made.response_ids,
            response_mask=made.mask,
            response_logprobs=made.logprobs,
            reward_score=made.reward,
            num_turns=2 * made.turns,
            metrics=AgentLoopMetrics(
                generate_sequences=sum(step.reply_s for step in transcript.steps),
                tool_calls=sum(step.command_s for step in transcript.steps),
            ),
            extra_fields={
                "min_global_steps": min(model.versions, default=0),
                "max_global_steps": max(model.versions, default=0),
                "reward_extra_info": {"acc": made.reward},
            },
        )


def seed_of(row: Mapping[str, Any], config: RunConfig) -> Callable[[int], int] | None:
    """A function for the seeds of a rollout's calls, or None unless the run is deterministic."""
    if not config.trainer.deterministic:
        return None
    step, number, sample = int(row["global_steps"]), int(row["index"]), int(row["session_id"])
    return lambda call: reply_seed(config.trainer.seed, step=step, row=number, sample=sample, call=call)
