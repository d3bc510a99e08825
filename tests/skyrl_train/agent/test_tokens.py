"""Tokens that the engine wrote against tokens made of its text."""

from skyrl_train.agent.tokens import Retokenised, retokenised
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Ended
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.transcript import Reply, Step, Transcript

IDS = {"a": 1, "b": 2, "ab": 3}


def encode(text: str) -> list[int]:
    """Prefers the longest token, as a tokenizer does; the engine may have written two short ones."""
    ids = []
    while text:
        piece = next(piece for piece in ("ab", "a", "b") if text.startswith(piece))
        ids.append(IDS[piece])
        text = text[len(piece) :]
    return ids


def transcript(*replies: tuple[tuple[int, ...], str]) -> Transcript:
    return Transcript(
        task_id="t",
        rollout_id="t",
        prompt=(),
        prompt_ids=(),
        steps=tuple(
            Step(reply=Reply(token_ids=ids, text=text, ended=Ended.STOP), call=parse_call(text))
            for ids, text in replies
        ),
        finish=Finish.FINISH_TOOL,
    )


def test_the_same_tokens_with_an_end_of_turn_are_no_difference() -> None:
    assert retokenised(transcript(((3, 1, 0), "aba"), ((), ""), ((2,), "b")), encode) == []


def test_names_the_first_token_that_differs() -> None:
    assert retokenised(transcript(((3,), "ab"), ((3, 1, 2, 0), "abab"), ((1,), "aa")), encode) == [
        Retokenised(1, 1, 1, 3),
        Retokenised(2, 1, None, 1),
    ]
