import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from skyrl_train.contracts.agent.calls import Ended
from skyrl_train.contracts.agent.follow_up import MARK
from skyrl_train.contracts.agent.transcript import Message, Reply
from skyrl_train.rl.engine import EngineError, EngineModel

END = 0


class Characters:
    """A tokenizer of characters, whose end of turn is one token."""

    eos_token_id = END

    def __init__(self, template: str = "<{role}>{content}|") -> None:
        self._template = template

    def apply_chat_template(
        self, conversation: list[dict[str, str]], *, tokenize: bool, add_generation_prompt: bool
    ) -> str:
        assert not tokenize
        assert add_generation_prompt
        return "".join(self._template.format(**one) for one in conversation) + "<assistant>"

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        assert not add_special_tokens
        return [END if character == "|" else ord(character) for character in text]

    def decode(self, token_ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        assert skip_special_tokens
        return "".join(chr(token) for token in token_ids if token != END)


@dataclass
class Answer:
    token_ids: list[int]
    log_probs: list[float] | None = None
    stop_reason: str = "completed"
    extra_fields: dict[str, Any] = field(default_factory=dict)


class Servers:
    def __init__(self, *answers: Answer) -> None:
        self._answers = iter(answers)
        self.asked: list[tuple[str, list[int], dict[str, Any]]] = []

    async def generate(self, request_id: str, *, prompt_ids: list[int], sampling_params: dict[str, Any]) -> Answer:
        self.asked.append((request_id, prompt_ids, dict(sampling_params)))
        sampling_params.clear()  # verl takes out of it what it has read
        return next(self._answers)


def model(*answers: Answer, template: str = "<{role}>{content}|") -> tuple[EngineModel, Servers]:
    servers = Servers(*answers)
    made = EngineModel(
        servers, Characters(template), request_id="r-0", sampling={"temperature": 1.0, "logprobs": True}, stop=["</f>"]
    )
    return made, servers


def ids(text: str) -> tuple[int, ...]:
    return tuple(Characters().encode(text, add_special_tokens=False))


def test_the_prompt_is_the_templates() -> None:
    made, _ = model()
    prompt = [Message(role="system", content="s"), Message(role="user", content="u")]
    assert tuple(made.begin(prompt)) == ids("<system>s|<user>u|<assistant>")


@pytest.mark.parametrize(
    ("written", "wanted"),
    [("ls|", "<user>text|<assistant>"), ("ls</f>", "|<user>text|<assistant>"), ("", "|<user>text|<assistant>")],
)
def test_what_follows_a_reply_ends_its_turn_once(written: str, wanted: str) -> None:
    made, _ = model()
    after = Reply(token_ids=ids(written), text=written, ended=Ended.STOP)
    assert tuple(made.follow("text", after=after)) == ids(wanted)


def test_a_result_that_holds_our_own_mark_is_shown_whole() -> None:
    made, _ = model()
    after = Reply(token_ids=ids("ls</f>"), text="ls</f>", ended=Ended.STOP)
    assert tuple(made.follow(f"a {MARK} b", after=after)) == ids(f"|<user>a {MARK} b|<assistant>")


def test_a_template_that_hides_replies_is_refused_in_words() -> None:
    made, _ = model(template="<{role}>|")
    with pytest.raises(EngineError, match="chat template"):
        made.follow("text", after=Reply(token_ids=(), text="", ended=Ended.STOP))


def test_every_call_has_its_own_limit_and_keeps_the_stop_text() -> None:
    made, servers = model(Answer(list(ids("a</f>")), [-1.0] * 5), Answer([ord("b"), END], [-1.0, -2.0]))
    first = asyncio.run(made.reply([1, 2], max_tokens=9))
    second = asyncio.run(made.reply([1, 2, 3], max_tokens=4))
    assert first == Reply(token_ids=ids("a</f>"), text="a</f>", ended=Ended.STOP, logprobs=(-1.0,) * 5)
    assert second == Reply(token_ids=(ord("b"), END), text="b", ended=Ended.STOP, logprobs=(-1.0, -2.0))
    common = {"temperature": 1.0, "logprobs": True, "stop": ["</f>"], "include_stop_str_in_output": True}
    assert servers.asked == [
        ("r-0", [1, 2], common | {"max_tokens": 9}),
        ("r-0", [1, 2, 3], common | {"max_tokens": 4}),
    ]


@pytest.mark.parametrize(
    ("written", "limit", "ended"),
    [
        ("abc", 3, Ended.LENGTH),
        ("ab|", 3, Ended.STOP),
        ("</f>", 4, Ended.STOP),
        ("abc", 4, Ended.STOP),
    ],
)
def test_a_reply_that_the_length_cut_is_told_from_one_that_ended(written: str, limit: int, ended: Ended) -> None:
    """verl says "completed" of both."""
    made, _ = model(Answer(list(ids(written))))
    assert asyncio.run(made.reply([1], max_tokens=limit)).ended is ended


def test_a_request_that_was_given_up_is_an_error() -> None:
    made, _ = model(Answer([], stop_reason="aborted"))
    with pytest.raises(EngineError, match="aborted the request"):
        asyncio.run(made.reply([1], max_tokens=3))


def test_the_versions_of_the_weights_are_kept() -> None:
    said = {"min_global_steps": 1, "max_global_steps": 2}
    made, _ = model(Answer([1], extra_fields=said), Answer([1], extra_fields={"min_global_steps": None}))
    asyncio.run(made.reply([1], max_tokens=3))
    asyncio.run(made.reply([1], max_tokens=3))
    assert made.versions == [1, 2]


def test_each_call_has_its_own_seed_where_one_is_given() -> None:
    servers = Servers(Answer([1]), Answer([2]))
    made = EngineModel(servers, Characters(), request_id="r", sampling={}, stop=[], seed_of=lambda call: 40 + call)
    for _ in range(2):
        asyncio.run(made.reply([1], max_tokens=5))
    assert [asked["seed"] for _, _, asked in servers.asked] == [40, 41]


def test_the_server_draws_as_it_likes_where_none_is() -> None:
    made, servers = model(Answer([1]))
    asyncio.run(made.reply([1], max_tokens=5))
    assert "seed" not in servers.asked[0][2]
