"""Makes verl's model servers a `Model` of the agent: tokens in, tokens out. Does not import verl."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from skyrl_train.contracts.agent import follow_up
from skyrl_train.contracts.agent.calls import Ended
from skyrl_train.contracts.agent.transcript import Message, Reply
from skyrl_train.contracts.errors import TrainError


class EngineError(TrainError):
    """A request to the model server failed."""


class Tokenizer(Protocol):
    """The part of a transformers tokenizer that is used here."""

    eos_token_id: int | None

    def apply_chat_template(
        self, conversation: list[dict[str, str]], *, tokenize: bool, add_generation_prompt: bool
    ) -> str: ...

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]: ...

    def decode(self, token_ids: Sequence[int], *, skip_special_tokens: bool) -> str: ...


class Server(Protocol):
    """verl's client for the model servers."""

    async def generate(self, request_id: str, *, prompt_ids: list[int], sampling_params: dict[str, Any]) -> Any: ...


class EngineModel:
    """The model of one rollout. All its turns use the same server, whose cache holds the earlier turns."""

    def __init__(
        self,
        server: Server,
        tokenizer: Tokenizer,
        *,
        request_id: str,
        sampling: Mapping[str, Any],
        stop: Sequence[str],
        seed_of: Callable[[int], int] | None = None,
    ) -> None:
        """`seed_of` gives the seed of each call; without it the server draws at random."""
        self._server = server
        self._tokenizer = tokenizer
        self._request_id = request_id
        self._sampling = dict(sampling)
        self._stop = list(stop)
        self._seed_of = seed_of
        self._calls = 0
        self.versions: list[int] = []
        """The versions of the weights that generated the replies, for verl."""

    def begin(self, prompt: Sequence[Message]) -> Sequence[int]:
        return self._encoded(self._rendered([{"role": one.role, "content": one.content} for one in prompt]))

    def follow(self, text: str, *, after: Reply) -> Sequence[int]:
        """The tokens between a reply and the next one, with the end of turn only if the reply lacks it."""
        rest = follow_up.after_reply(self._rendered(follow_up.conversation(text)))
        if rest is None:
            raise EngineError("the model's chat template changes the text of a reply; use a template that keeps it")
        return follow_up.added(after.token_ids, self._encoded(rest))

    async def reply(self, token_ids: Sequence[int], *, max_tokens: int) -> Reply:
        """The reply of one call. FIX(CFG001): max_tokens is what is left, so that no call exceeds the context."""
        # FIX(AGT014): the text that closes a call stays in the reply
        params = {**self._sampling, "max_tokens": max_tokens, "stop": self._stop, "include_stop_str_in_output": True}
        if self._seed_of is not None:
            params["seed"] = self._seed_of(self._calls)
        self._calls += 1
        answer = await self._server.generate(self._request_id, prompt_ids=list(token_ids), sampling_params=params)
        if answer.stop_reason == "aborted":
            raise EngineError("the model server aborted the request")
        ids = tuple(int(token) for token in answer.token_ids)
        text = self._tokenizer.decode(ids, skip_special_tokens=True)
        weights = versions(answer.extra_fields)
        self.versions += weights or ()
        logprobs = None if answer.log_probs is None else tuple(float(value) for value in answer.log_probs)
        ended = self._ended(ids, text, max_tokens)
        return Reply(token_ids=ids, text=text, ended=ended, logprobs=logprobs, weights=weights)

    def _ended(self, ids: tuple[int, ...], text: str, max_tokens: int) -> Ended:
        """How a reply ended. verl calls both "completed"; a reply cut by the length limit must not be run as a call."""
        closed = ids[-1:] == (self._tokenizer.eos_token_id,) or any(stop in text for stop in self._stop)
        return Ended.LENGTH if len(ids) >= max_tokens and not closed else Ended.STOP

    def _rendered(self, talk: list[dict[str, str]]) -> str:
        return self._tokenizer.apply_chat_template(talk, tokenize=False, add_generation_prompt=True)

    def _encoded(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False))


def versions(fields: Mapping[str, Any]) -> tuple[int, int] | None:
    """The steps of the weights at a reply's begin and end; they differ where an update interrupted it."""
    first, last = fields.get("min_global_steps"), fields.get("max_global_steps")
    return None if first is None or last is None else (int(first), int(last))
