"""Runs the rollouts in the driver's process, unless the configuration asks for several processes.

verl runs its agent loops in separate processes, each of which imports torch, verl and transformers before the first
prompt. Rollouts mostly wait for the engine and for sandboxes, so one process can run hundreds of them, and the driver is
idle meanwhile.
"""

import asyncio
import threading
from typing import Any

from verl.trainer.ppo.v1 import AgentLoopManagerTQ
from verl.trainer.ppo.v1.agent_loop_tq import AgentLoopWorkerTQ

SUBMIT_S = 600.0


class LoopsInDriver:
    """An agent loop manager for verl: takes prompts and puts their rollouts into TransferQueue."""

    def __init__(self, **words: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="agent-loops", daemon=True)
        self._thread.start()
        self._worker = AgentLoopWorkerTQ.__ray_actor_class__(**words)

    def generate_sequences(self, prompts: Any) -> None:
        """Starts the rollouts of these prompts without waiting for them."""
        begun = asyncio.run_coroutine_threadsafe(self._worker.generate_sequences(prompts), self._loop)
        begun.result(SUBMIT_S)


def agent_loops(workers: int, **words: Any) -> Any:
    return LoopsInDriver(**words) if workers == 1 else AgentLoopManagerTQ.create(**words)
