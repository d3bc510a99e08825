"""The interfaces of the loop: a model that continues tokens, and a sandbox that runs actions."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.transcript import Message, Reply, Result, Transcript
from skyrl_train.contracts.rewards.score import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The task of a rollout. `id` names the task, `rollout_id` this attempt."""

    id: str
    rollout_id: str
    prompt: tuple[Message, ...]


class Model(Protocol):
    """A model: tokens in, tokens out. The text of a reply is never tokenised again."""

    def begin(self, prompt: Sequence[Message]) -> Sequence[int]:
        """The tokens of the prompt, up to the start of the reply."""

    def follow(self, text: str, *, after: Reply) -> Sequence[int]:
        """The tokens of a user message after a reply, up to the start of the next reply.

        They begin with an end of turn if the reply has none, because a stop string or the length limit cut it.
        """

    async def reply(self, token_ids: Sequence[int], *, max_tokens: int) -> Reply:
        """A reply of at most `max_tokens` tokens. Do not keep or change `token_ids`."""


class Sandbox(Protocol):
    """A sandbox that keeps its state between actions. Any exception means that the sandbox is lost."""

    async def run(self, action: Action, *, limit_s: float) -> Result:
        """The result of a terminal or file action.

        A command that exceeds the limit is stopped, and the result states it. One that exceeds only the model's own
        `timeout` keeps running, and the model may ask for its output later.
        """

    async def program(self, bundle: bytes, request: bytes, *, limit_s: float) -> str:
        """Runs a zip of Python apart from the agent's tools, with a file that holds the request; its output."""


OpenSandbox = Callable[[Task], AbstractAsyncContextManager[Sandbox]]
"""Starts a sandbox for a task, and always removes it."""

Grade = Callable[[], Awaitable[Score]]
"""Scores a rollout after its sandbox was removed."""

Scorer = Callable[[Sandbox, Transcript], Awaitable[Score | Grade]]
"""Scores a finished rollout in its sandbox, or takes from it what `Grade` needs."""
