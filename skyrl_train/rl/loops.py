"""Where the rollouts run: in the driver's own process, unless the configuration asks for several.

verl gives its agent loops processes of their own, each of which imports torch, verl and transformers before the first
prompt can be sent. Rollouts only wait, for the engine and for sandboxes: one process has room for hundreds of them, and
the driver has nothing to do meanwhile.
"""

import asyncio
import threading
from typing import Any

from verl.trainer.ppo.v1 import AgentLoopManagerTQ
from verl.trainer.ppo.v1.agent_loop_tq import AgentLoopWorkerTQ

SUBMIT_S = 600.0


class LoopsInDriver:
    """What verl asks of an agent loop manager: it takes prompts, and leaves their rollouts in TransferQueue."""

    def __init__(self, **words: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="agent-loops", daemon=True)
        self._thread.start()
        self._worker = AgentLoopWorkerTQ.__ray_actor_class__(**words)

    def generate_sequences(self, prompts: Any) -> None:
        """Begins their rollouts, and does not wait for them."""
        begun = asyncio.run_coroutine_threadsafe(self._worker.generate_sequences(prompts), self._loop)
        begun.result(SUBMIT_S)


def agent_loops(workers: int, **words: Any) -> Any:
    return LoopsInDriver(**words) if workers == 1 else AgentLoopManagerTQ.create(**words)
