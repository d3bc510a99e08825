"""The limits of a rollout, and the tokens left for its next reply."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields

from skyrl_train.contracts.agent.results import RESULT_CHARS

REPLY_S = 900.0
"""Default time limit of one reply in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one rollout. Tokens of results count as response tokens, as in the trainer."""

    model_len: int
    """The context of the engine: prompt and response together."""
    prompt_tokens: int
    response_tokens: int
    reply_tokens: int
    turns: int = 50
    reply_s: float = REPLY_S
    command_s: float = 120.0
    grace_s: float = 10.0
    """Extra time for the sandbox to stop a command at its limit and to report it."""
    start_s: float = 600.0
    rollout_s: float = 3600.0
    """Time from the first to the last token, without the sandbox's start and scoring."""
    score_s: float = 900.0
    close_s: float = 60.0
    idle_turns: int = 3
    """The rollout ends after this many replies in a row without a call."""
    repeats: int = 4
    """The rollout is stuck after this many equal turns in a row."""
    result_chars: int = RESULT_CHARS

    def __post_init__(self) -> None:
        wrong = [f"{f.name} is {getattr(self, f.name)}" for f in fields(self) if not getattr(self, f.name) > 0]
        if wrong:
            raise ValueError(f"limits must be above zero: {', '.join(wrong)}")


def reply_room(limits: Limits, prompt: int, response: int) -> int:
    """The most tokens of the next reply; below 1, no reply is possible."""
    return min(limits.reply_tokens, limits.response_tokens - response, limits.model_len - prompt - response)


def result_fits(limits: Limits, prompt: int, response: int, result: int) -> bool:
    """Whether a result of this many tokens leaves room for a reply."""
    return reply_room(limits, prompt, response + result) >= 1


def is_stuck(turns: Sequence[Hashable], repeats: int) -> bool:
    """Whether the last turns repeat one turn, or alternate between two."""
    return _repeats(turns, period=1, length=repeats) or _repeats(turns, period=2, length=2 * repeats)


def _repeats(turns: Sequence[Hashable], *, period: int, length: int) -> bool:
    last = turns[-length:]
    return len(last) == length > period and all(a == b for a, b in zip(last, last[period:], strict=False))
