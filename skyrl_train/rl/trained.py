"""The part of a rollout that is trained on, as plain lists, or why there is none. Pure."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.rewards.score import Scored

GROUPED = frozenset({"grpo", "rloo"})
"""Advantages that compare the rollouts of one prompt with each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """A row of a batch. Response ids, mask and log-probabilities have equal lengths; the mask ends with a 1."""

    prompt_ids: list[int]
    response_ids: list[int]
    mask: list[int]
    logprobs: list[float]
    reward: float
    turns: int


@dataclass(frozen=True, slots=True)
class Untrained:
    """A rollout that is counted but left out of training."""

    why: str


def trained(transcript: Transcript) -> Trained | Untrained:
    """The row of a rollout. FIX(AGT017), FIX(TRN004): masked rollouts and those without reward or tokens make no row.

    A row of zeros would count in its group's mean, and a row without tokens would put its reward on the padding.
    """
    if transcript.masked:
        return Untrained(f"{transcript.finish}: {transcript.detail}".removesuffix(": "))
    if not isinstance(transcript.score, Scored):
        return Untrained("the rollout has no score")
    if not math.isfinite(transcript.score.reward):
        return Untrained(f"the reward is {transcript.score.reward}")
    ids, mask = list(transcript.response_ids), list(transcript.response_mask)
    logprobs = _logprobs(transcript)
    if not any(mask):
        return Untrained("the model wrote no token")
    if not transcript.prompt_ids:
        return Untrained("the prompt has no token")
    if not all(map(math.isfinite, logprobs)):
        return Untrained("the engine's log-probabilities are not finite")  # FIX(TRN005)
    end = len(mask) - mask[::-1].index(1)  # the reward belongs to the last token of the model
    return Trained(
        prompt_ids=list(transcript.prompt_ids),
        response_ids=ids[:end],
        mask=mask[:end],
        logprobs=logprobs[:end],
        reward=transcript.score.reward,
        turns=len(transcript.steps),
    )


def _logprobs(transcript: Transcript) -> list[float]:
    """One log-probability for each token of the response; 0 for tokens that the model only read, which are masked."""
    parts = [
        part
        for step in transcript.steps
        for part in (_of_reply(step.reply.logprobs, len(step.reply.token_ids)), [0.0] * len(step.shown_ids))
    ]
    return [value for part in parts for value in part]


def _of_reply(logprobs: Sequence[float] | None, tokens: int) -> list[float]:
    found = list(logprobs or ())
    return found if len(found) == tokens else [math.nan] * tokens


def group_of(key: str) -> str:
    """The prompt of a row of verl, whose keys are UID_SESSION_INDEX."""
    return key.split("_", 1)[0]


def comparable(keys: Iterable[str], *, advantage: str, n: int) -> tuple[list[str], list[str]]:
    """The rows to keep and the rows to drop: a row that is alone in its group has nothing to be compared with.

    verl would use its plain reward as its advantage.
    """
    listed = list(keys)
    if advantage not in GROUPED or n < 2:
        return listed, []
    sizes: dict[str, int] = {}
    for key in listed:
        sizes[group_of(key)] = sizes.get(group_of(key), 0) + 1
    alone = [key for key in listed if sizes[group_of(key)] == 1]
    return [key for key in listed if sizes[group_of(key)] > 1], alone
