"""Our agent loop with a sandbox that is a directory: one turn and no commands, so that what is measured is the loop."""

import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from skyrl_train.agent.ports import OpenSandbox, Sandbox, Scorer, Task
from skyrl_train.agent.sandboxes.directory import directory_sandbox
from skyrl_train.agent.transcript import Transcript
from skyrl_train.rewards.score import Score, Scored
from skyrl_train.rl.agent_loop import SkyrlAgentLoop
from skyrl_train.tasks.demo.rows import TASKS
from skyrl_train.tasks.demo.seed import write_seed


class BareLoop(SkyrlAgentLoop):
    """Scored as the plain run scores: by something of the reply that differs between rollouts."""

    def sandboxes(self, row: Mapping[str, Any]) -> OpenSandbox:
        del row

        @asynccontextmanager
        async def opened(_task: Task) -> AsyncIterator[Sandbox]:
            with tempfile.TemporaryDirectory(prefix="skyrl-bare-") as seed:
                root = write_seed(TASKS[0], Path(seed), python=sys.executable)
                async with directory_sandbox(root, environ=os.environ) as sandbox:
                    yield sandbox

        return opened

    def scorer(self, row: Mapping[str, Any]) -> Scorer:
        del row

        async def score(_sandbox: Sandbox, transcript: Transcript) -> Score:
            return Scored(len(transcript.rollout_id + str(transcript.steps[-1:])) % 7 / 7)

        return score
