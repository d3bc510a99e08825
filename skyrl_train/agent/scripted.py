"""A model with fixed replies: for tests, for the demo, and for trying a sandbox without a GPU."""

import asyncio
from collections.abc import Iterable, Sequence

from skyrl_train.contracts.agent.calls import Ended
from skyrl_train.contracts.agent.transcript import Message, Reply

END_OF_TURN = 0
"""The token after a message. All other tokens are code points of the text."""


class ScriptedModel:
    """Gives its replies in order, cut to the allowed length; after the last one, empty replies."""

    def __init__(self, replies: Iterable[str], *, delay_s: float = 0.0) -> None:
        self._replies = iter(replies)
        self._delay_s = delay_s

    def begin(self, prompt: Sequence[Message]) -> Sequence[int]:
        return [token for message in prompt for token in _message(message.role, message.content)]

    def follow(self, text: str, *, after: Reply) -> Sequence[int]:
        ended = after.token_ids[-1:] == (END_OF_TURN,)
        return [*([] if ended else [END_OF_TURN]), *_message("user", text)]

    async def reply(self, token_ids: Sequence[int], *, max_tokens: int) -> Reply:  # noqa: ARG002  # the replies are fixed
        if self._delay_s:
            await asyncio.sleep(self._delay_s)
        text = next(self._replies, "")
        tokens = (*map(ord, text), END_OF_TURN)
        if len(tokens) <= max_tokens:
            return Reply(token_ids=tokens, text=text, ended=Ended.STOP)
        return Reply(token_ids=tokens[:max_tokens], text=text[:max_tokens], ended=Ended.LENGTH)


def _message(role: str, content: str) -> list[int]:
    return [*map(ord, f"{role}: {content}"), END_OF_TURN]
