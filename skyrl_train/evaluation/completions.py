"""A model server's /v1/completions with tokens in and tokens out, in the form of verl's client for its model servers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import httpx

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.typed import Fields, FormatError, parse_object
from skyrl_train.rl.engine import EngineError

ASK_S = 30.0
"""Of a question that is no reply of the model."""
SCORE_S = 120.0
"""Of a question behind other requests of a busy server."""
MOST_BYTES = 64 << 20
KEY_VARIABLE = "VLLM_API_KEY"
"""The variable with the key of a model server, as vLLM itself reads it."""
_WHY_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What EngineModel reads of a reply."""

    token_ids: tuple[int, ...]
    stop_reason: str
    log_probs: None = None
    extra_fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The model of a server. `root` is its directory as the server knows it; it may be on another machine."""

    name: str
    root: str


class CompletionsServer:
    """vLLM 0.10.2 or newer, by its URL. Use it as a context manager."""

    def __init__(self, url: str, *, key: str = "", transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._url = url.rstrip("/").removesuffix("/v1")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        # each call has the time limit of its turn, which the agent loop keeps
        limits = httpx.Limits(max_connections=None)  # agent.max_parallel is the limit
        timeout = httpx.Timeout(None, connect=ASK_S)
        self._http = httpx.AsyncClient(transport=transport, headers=headers, timeout=timeout, limits=limits)
        self._name = ""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def model(self, name: str | None = None) -> Served:
        """The named model, or the only one. UsageError if there is none."""
        try:
            body = await self._ask("GET", "/v1/models", None, limit_s=ASK_S)
            served = [Served(name=one.text("id"), root=one.text("root", "")) for one in body.objects("data")]
        except (EngineError, FormatError) as error:
            raise UsageError(f"{self._url} is not a model server that can be used: {error}") from None
        chosen = [one for one in served if name in (None, one.name)]
        if len(chosen) != 1:
            names = ", ".join(one.name for one in served) or "none"
            raise UsageError(f"{self._url} serves {names}; name one model with --served-name")
        self._name = chosen[0].name
        return chosen[0]

    async def generate(self, request_id: str, *, prompt_ids: list[int], sampling_params: dict[str, Any]) -> Answer:
        """A reply. EngineError if the server fails or answers without the tokens of its reply."""
        request = {"model": self._name, "prompt": prompt_ids, "return_token_ids": True, **sampling_params}
        try:
            body = await self._ask("POST", "/v1/completions", request, limit_s=None)
            (choice,) = body.objects("choices")
            if "token_ids" not in choice:
                raise EngineError(
                    f"{self._url} does not return the tokens of a reply (return_token_ids); use vLLM 0.10.2 or newer"
                )
            reason = choice.text("finish_reason", "")
            return Answer(
                token_ids=choice.integers("token_ids"), stop_reason="aborted" if reason == "abort" else "completed"
            )
        except (FormatError, ValueError) as error:
            raise EngineError(f"{self._url}: unexpected answer to {request_id}: {error}") from None

    async def scored(self, ids: Sequence[int]) -> list[float]:
        """The log-probability of each token of a text but the first."""
        request = {"model": self._name, "prompt": list(ids), "max_tokens": 1, "temperature": 0.0, "prompt_logprobs": 0}
        try:
            body = await self._ask("POST", "/v1/completions", request, limit_s=SCORE_S)
            (choice,) = body.objects("choices")
            found = choice.value("prompt_logprobs")
            if not isinstance(found, list) or len(found) != len(ids):
                raise EngineError(f"{self._url} does not return prompt_logprobs; only vLLM's server does")
            return [float(one[str(token)]["logprob"]) for token, one in zip(ids[1:], found[1:], strict=True)]
        except (FormatError, ValueError, KeyError, TypeError) as error:
            raise EngineError(f"{self._url}: unexpected answer to the fixed text: {error!r}") from None

    async def _ask(self, method: str, path: str, body: object, *, limit_s: float | None) -> Fields:
        timeout = self._http.timeout if limit_s is None else httpx.Timeout(limit_s)
        try:
            async with self._http.stream(method, self._url + path, json=body, timeout=timeout) as response:
                text = await _bounded(response, path)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise EngineError(f"{path}: {type(error).__name__}: {error}") from None
        if response.status_code != httpx.codes.OK:
            why = " ".join(text.decode("utf-8", "replace").split())[:_WHY_CHARS]
            raise EngineError(f"{path} answered {response.status_code}: {why}")
        return parse_object(text, path)


async def _bounded(response: httpx.Response, path: str) -> bytes:
    text = b""
    async for chunk in response.aiter_bytes():
        text += chunk
        if len(text) > MOST_BYTES:
            raise EngineError(f"{path} answered more than {MOST_BYTES} bytes")
    return text
