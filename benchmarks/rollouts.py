"""What the loop itself costs: 64 rollouts at once, 10,000 turns, with a model that answers in 20 ms.

python benchmarks/rollouts.py
"""

import asyncio
import time
import tracemalloc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from skyrl_train.agent.loop import rollout
from skyrl_train.agent.scripted import ScriptedModel
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.limits import Limits
from skyrl_train.contracts.agent.ports import Task
from skyrl_train.contracts.agent.transcript import Message, Result, Transcript

ROLLOUTS, TURNS, ROUNDS, ANSWER_S = 64, 40, 4, 0.02
LIMITS = Limits(model_len=200_000, prompt_tokens=10_000, response_tokens=100_000, reply_tokens=4000, turns=TURNS)
TASK = Task(id="t", rollout_id="t", prompt=(Message(role="user", content="fix it " * 500),))
REPLY = "I look at line {0} of the file.\n<function=terminal>\n<parameter=command>sed -n {0}p a.py</parameter>\n"


class CountingSandbox:
    """Answers at once with half a kilobyte, which differs each time."""

    def __init__(self) -> None:
        self.ran = 0

    async def run(self, action: Action, *, limit_s: float) -> Result:
        self.ran += 1
        return Result(text=f"{self.ran} {action.tool} {limit_s:g} " + "x" * 512)


@asynccontextmanager
async def opened(_task: Task) -> AsyncIterator[CountingSandbox]:
    yield CountingSandbox()


async def one_round() -> Sequence[Transcript]:
    replies = [REPLY.format(line) for line in range(TURNS)]
    models = [ScriptedModel(replies, delay_s=ANSWER_S) for _ in range(ROLLOUTS)]
    return await asyncio.gather(*(rollout(TASK, model, opened, LIMITS) for model in models))


if __name__ == "__main__":
    tracemalloc.start()
    turns, in_use = 0, []
    for _ in range(ROUNDS):
        transcripts = asyncio.run(one_round())
        turns += sum(len(transcript.steps) for transcript in transcripts)
        del transcripts
        in_use.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    begin, cpu = time.perf_counter(), time.process_time()
    steps = sum(len(transcript.steps) for transcript in asyncio.run(one_round()))
    wall, busy = time.perf_counter() - begin, time.process_time() - cpu
    print(f"own cost of a turn   {busy / steps * 1e3:.3f} ms ({ROLLOUTS} rollouts, {steps} turns, {wall:.2f} s)")
    print(f"memory after rounds  {', '.join(f'{used / 1e6:.2f} MB' for used in in_use)} ({turns} turns)")
