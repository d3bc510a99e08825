import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from skyrl_train.contracts.errors import UsageError
from skyrl_train.evaluation.completions import Answer, CompletionsServer, Served
from skyrl_train.rl.engine import EngineError

URL = "http://node1:8000"
ONE = {"data": [{"id": "m", "root": "/models/m", "object": "model"}]}


def asked(
    work: Callable[[CompletionsServer], Any], *answers: object, url: str = URL, status: int = 200
) -> tuple[Any, list[httpx.Request]]:
    """The result, and the requests."""
    requests: list[httpx.Request] = []
    left = iter(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        body = next(left)
        if isinstance(body, Exception):
            raise body
        return httpx.Response(status, content=body) if isinstance(body, bytes) else httpx.Response(status, json=body)

    async def run() -> Any:
        async with CompletionsServer(url, key="k", transport=httpx.MockTransport(answer)) as server:
            return await work(server)

    return asyncio.run(run()), requests


async def replied(server: CompletionsServer) -> Answer:
    await server.model()
    return await server.generate("r", prompt_ids=[1, 2], sampling_params={"max_tokens": 5, "stop": ["x"], "seed": 3})


def choice(**more: object) -> dict[str, object]:
    return {"choices": [{"finish_reason": "stop", "text": "hi", "token_ids": [7, 8], **more}]}


def test_tokens_go_in_and_come_out() -> None:
    answer, requests = asked(replied, ONE, choice(), url=f"{URL}/v1/")
    assert answer == Answer(token_ids=(7, 8), stop_reason="completed")
    assert [str(one.url) for one in requests] == [f"{URL}/v1/models", f"{URL}/v1/completions"]
    assert requests[1].headers["authorization"] == "Bearer k"
    assert json.loads(requests[1].content) == {
        "model": "m",
        "prompt": [1, 2],
        "return_token_ids": True,
        "max_tokens": 5,
        "stop": ["x"],
        "seed": 3,
    }


def test_an_aborted_reply_is_known() -> None:
    answer, _ = asked(replied, ONE, choice(finish_reason="abort"))
    assert answer.stop_reason == "aborted"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (choice(token_ids=None), "does not return the tokens of a reply"),
        ({"choices": []}, "unexpected answer to r"),
        ({}, "choices is missing"),
        (b"<html>", "is not JSON"),
        (httpx.ReadError("gone"), "ReadError: gone"),
    ],
)
def test_an_answer_that_is_not_a_reply_is_an_error_of_the_server(body: object, why: str) -> None:
    with pytest.raises(EngineError, match=why):
        asked(replied, ONE, body)


def test_an_error_of_the_server_is_quoted() -> None:
    async def work(server: CompletionsServer) -> Any:
        return await server.generate("r", prompt_ids=[1], sampling_params={})

    with pytest.raises(EngineError, match=r"/v1/completions answered 400: \{\"error\":\"too long\"\}"):
        asked(work, {"error": "too long"}, status=400)


def test_the_model_is_named_or_the_only_one() -> None:
    two = {"data": [{"id": "a"}, {"id": "b"}]}
    assert asked(lambda server: server.model("b"), two)[0] == Served(name="b", root="")
    with pytest.raises(UsageError, match="serves a, b; name one model with --served-name"):
        asked(lambda server: server.model(), two)
    with pytest.raises(UsageError, match="is not a model server that can be used: /v1/models: ConnectError"):
        asked(lambda server: server.model(), httpx.ConnectError("refused"))


async def scored(server: CompletionsServer) -> list[float]:
    await server.model()
    return await server.scored([4, 5, 6])


def test_a_text_is_scored_token_by_token() -> None:
    found = [None, {"5": {"logprob": -0.5}, "9": {"logprob": -0.1}}, {"6": {"logprob": -2.0}}]
    result, requests = asked(scored, ONE, choice(prompt_logprobs=found))
    assert result == [-0.5, -2.0]
    assert json.loads(requests[1].content)["prompt_logprobs"] == 0


@pytest.mark.parametrize(
    "found", [None, [], [None, {"5": {"logprob": -0.5}}], [None, {}, {}], [None, {"5": 1}, {"6": 1}]]
)
def test_a_server_that_does_not_score_the_text_is_named(found: object) -> None:
    with pytest.raises(EngineError, match=f"{URL}.*(does not return prompt_logprobs|unexpected answer)"):
        asked(scored, ONE, choice(prompt_logprobs=found))
