"""The cost of grading in a new sandbox beside grading in the agent's own, in alternating rollouts: one at a time, and as a run."""

import asyncio
import json
import os
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from lanes.attacks.image import TASK, TASK_IMAGE
from lanes.attacks.rewards import SLUG
from lanes.podman.runtime import Server
from skyrl_train.agent.loop import rollout
from skyrl_train.agent.scripted import ScriptedModel
from skyrl_train.contracts.agent.ports import OpenSandbox, Sandbox, Scorer, Task
from skyrl_train.contracts.rewards.score import Scored
from skyrl_train.demo.play import LIMITS
from skyrl_train.demo.rows import r2e_row
from skyrl_train.demo.task import call
from skyrl_train.rewards.fresh import Controls, Suite, fresh
from skyrl_train.rewards.suite import prepare, suite_scorer
from skyrl_train.sandbox.client.runtime import RuntimeClient, SandboxRequest
from skyrl_train.sandbox.client.tools import opener

pytestmark = [pytest.mark.podman, pytest.mark.attacks]
EXPECTED = r2e_row(TASK)["expected_output_json"]
COUNT = int(os.environ.get("GRADED_ROLLOUTS", "4"))
AT_ONCE = 8
TURNS, REPLY_S = 12, 0.8
"""Of the run's model: ten seconds a rollout, which is short."""


def ways(client: RuntimeClient) -> dict[str, tuple[OpenSandbox, Scorer]]:
    sandboxes = opener(client, lambda task: SandboxRequest(image=TASK_IMAGE, session_id=f"skyrl-{task.rollout_id}"))

    @asynccontextmanager
    async def prepared(task: Task) -> AsyncIterator[Sandbox]:
        async with sandboxes(task) as sandbox:
            await prepare(sandbox)
            yield sandbox

    return {"same": (prepared, suite_scorer(EXPECTED)), "fresh": fresh(sandboxes, Suite(expected=EXPECTED), Controls())}


async def one(way: tuple[OpenSandbox, Scorer], name: str, *, turns: int = 0, reply_s: float = 0.0) -> float:
    replies = [call("terminal", command=f"ls {turn}") for turn in range(turns)]
    mend = call("file_editor", command="create", path=f"/testbed/{SLUG}", file_text=TASK.gold[SLUG])
    gone = call("terminal", command=f"rm /testbed/{SLUG}")
    model = ScriptedModel([*replies, gone, mend, call("finish", message="done")], delay_s=reply_s)
    began = time.monotonic()
    done = await rollout(Task(id="slugs", rollout_id=name, prompt=()), model, way[0], LIMITS, scorer=way[1])
    assert done.score == Scored(1.0, "all 4 tests as expected"), done.score
    return time.monotonic() - began


async def measured(server: Server) -> dict[str, object]:
    alone: dict[str, list[float]] = {"same": [], "fresh": []}
    hourly: dict[str, int] = {}
    async with RuntimeClient(server.url, server.key) as client:
        found = ways(client)
        for number in range(COUNT):
            for name, way in found.items():
                alone[name].append(await one(way, f"{name}-{number}"))
        slots = asyncio.Semaphore(AT_ONCE)

        async def slotted(way: tuple[OpenSandbox, Scorer], name: str) -> float:
            async with slots:
                return await one(way, name, turns=TURNS, reply_s=REPLY_S)

        for name, way in found.items():
            began = time.monotonic()
            await asyncio.gather(*(slotted(way, f"run-{name}-{number}") for number in range(AT_ONCE * COUNT // 2)))
            hourly[name] = round(AT_ONCE * COUNT // 2 / (time.monotonic() - began) * 3600)
    return {
        "rollouts": COUNT,
        "seconds_a_rollout": {name: round(statistics.median(times), 3) for name, times in alone.items()},
        "samples_an_hour": hourly,
    }


def test_the_cost_of_a_new_sandbox(server: Server) -> None:
    found = asyncio.run(measured(server))
    print(json.dumps(found))  # noqa: T201 -- the benchmark's result
    assert found["rollouts"] == COUNT
