"""What the loop needs of the world: a model that continues tokens, and a sandbox that runs actions."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.transcript import Message, Reply, Result, Transcript
from skyrl_train.contracts.rewards.score import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a rollout is about. `id` names the task, `rollout_id` this one try at it."""

    id: str
    rollout_id: str
    prompt: tuple[Message, ...]


class Model(Protocol):
    """Tokens in, tokens out. Token ids are made here and in the engine only, never by encoding a reply's text again."""

    def begin(self, prompt: Sequence[Message]) -> Sequence[int]:
        """The tokens of the prompt, up to where the model is to write."""

    def follow(self, text: str, *, after: Reply) -> Sequence[int]:
        """The tokens of a user message after a reply, up to where the model is to write. Where the reply has no end of
        turn, because a stop string or the length cut it, they begin with one."""

    async def reply(self, token_ids: Sequence[int], *, max_tokens: int) -> Reply:
        """At most so many tokens more. The ids belong to the loop: not to be kept or changed."""


class Sandbox(Protocol):
    """One working copy, whose state lasts from action to action. Any exception means that the sandbox is lost."""

    async def run(self, action: Action, *, limit_s: float) -> Result:
        """What a terminal or file action gave. A command that runs longer than the limit is stopped, and the result
        says so; one that reaches the model's own `timeout` before may go on, for the model to ask after."""


OpenSandbox = Callable[[Task], AbstractAsyncContextManager[Sandbox]]
"""Starts a sandbox for a task, and removes it whatever happens."""

Scorer = Callable[[Sandbox, Transcript], Awaitable[Score]]
"""Scores a finished rollout in its own sandbox."""
