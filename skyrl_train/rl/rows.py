"""What a rollout needs of its row: the task, and where and how it is graded. Does not import verl."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.agent.ports import OpenSandbox, Sandbox, Scorer, Task
from skyrl_train.contracts.agent.transcript import Message
from skyrl_train.rewards.fresh import Controls, Suite, fresh
from skyrl_train.rewards.suite import prepare, suite_scorer


def task_of(row: Mapping[str, Any], rollout_id: str) -> Task:
    prompt = tuple(Message(role=str(one["role"]), content=str(one["content"])) for one in row["raw_prompt"])
    return Task(id=str(row["extra_info"]["task_id"]), rollout_id=rollout_id, prompt=prompt)


def repository_of(row: Mapping[str, Any]) -> str:
    """The row's repository. Rows of others may name none: then what their task's name begins with."""
    extra = row["extra_info"]
    return str(extra.get("repo") or str(extra["task_id"]).rpartition("-")[0])


def graded(
    row: Mapping[str, Any], sandboxes: OpenSandbox, config: RunConfig, controls: Controls
) -> tuple[OpenSandbox, Scorer]:
    """The agent's sandboxes and their scorer: in a new sandbox, or in the same one if `hide_tests` is off."""
    suite = suite_of_row(row)
    if config.sandbox.hide_tests:
        return fresh(sandboxes, suite, controls)
    return prepared(sandboxes), suite_scorer(suite.expected, source=suite.source)


def suite_of_row(row: Mapping[str, Any]) -> Suite:
    edits = row["extra_info"].get("edits")
    return Suite(
        expected=str(row["reward_model"]["ground_truth"]),
        source=str(row["data_source"]),
        edits=() if edits is None else tuple(map(str, edits)),
    )


def prepared(open_sandbox: OpenSandbox) -> OpenSandbox:
    """The same sandboxes with the tests moved out of the repository. A rollout without tests ends at once (IMG006)."""

    @asynccontextmanager
    async def opened(task: Task) -> AsyncIterator[Sandbox]:
        async with open_sandbox(task) as sandbox:
            await prepare(sandbox)
            yield sandbox

    return opened
