"""How far a rollout may go, and how much room its next reply has."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields

from skyrl_train.contracts.agent.results import RESULT_CHARS


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one rollout. Tokens of results count as response, as they do for the trainer."""

    model_len: int
    """All that the engine takes: prompt and response together."""
    prompt_tokens: int
    response_tokens: int
    reply_tokens: int
    turns: int = 50
    reply_s: float = 900.0
    command_s: float = 120.0
    grace_s: float = 10.0
    """What the sandbox gets beyond a command's limit, to stop it and to say so."""
    start_s: float = 600.0
    rollout_s: float = 3600.0
    """From the first token to the last, without the sandbox's start and without scoring."""
    score_s: float = 900.0
    close_s: float = 60.0
    idle_turns: int = 3
    """Replies in a row that call nothing: after so many the rollout ends."""
    repeats: int = 4
    """Equal turns in a row that count as being stuck."""
    result_chars: int = RESULT_CHARS

    def __post_init__(self) -> None:
        wrong = [f"{f.name} is {getattr(self, f.name)}" for f in fields(self) if not getattr(self, f.name) > 0]
        if wrong:
            raise ValueError(f"limits must be above zero: {', '.join(wrong)}")


def reply_room(limits: Limits, prompt: int, response: int) -> int:
    """How many tokens the next reply may have; below 1 there is no room left. Every call is clamped to it."""
    return min(limits.reply_tokens, limits.response_tokens - response, limits.model_len - prompt - response)


def result_fits(limits: Limits, prompt: int, response: int, result: int) -> bool:
    """Whether a result of so many tokens leaves room for a reply."""
    return reply_room(limits, prompt, response + result) >= 1


def is_stuck(turns: Sequence[Hashable], repeats: int) -> bool:
    """Whether the last turns are one turn over and over, or two in alternation."""
    return _repeats(turns, period=1, length=repeats) or _repeats(turns, period=2, length=2 * repeats)


def _repeats(turns: Sequence[Hashable], *, period: int, length: int) -> bool:
    last = turns[-length:]
    return len(last) == length > period and all(a == b for a, b in zip(last, last[period:], strict=False))
