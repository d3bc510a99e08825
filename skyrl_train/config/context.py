"""Whether prompts and responses fit into the context of the model server (CFG001, AGT020)."""

from collections.abc import Iterator

from skyrl_train.contracts.violation import Violation

LEAST_ROOM = 1
"""The fewest tokens that a call must be able to generate."""


def largest_max_tokens(*, max_model_len: int, prompt_tokens: int) -> int:  # FIX(CFG001)
    """The most tokens that a call with such a prompt may request; 0 or less if the prompt alone does not fit."""
    return max_model_len - prompt_tokens


def call_violations(
    *,
    max_tokens: int,
    max_model_len: int,
    prompt_tokens: int | None,
    prompt_source: str,
    clamped: bool,
    response_tokens: int | None = None,
) -> Iterator[Violation]:
    """A model call whose prompt and max_tokens exceed max_model_len.

    If the prompt length is unknown, only a max_tokens that leaves no room for any prompt is reported.
    `clamped`: the caller lowers max_tokens to what is left, as verl 0.9 and our agent do. A max_tokens that exceeds
    max_model_len even with an empty prompt is fatal anyway: it was meant for another context. `response_tokens` of a whole
    rollout must fit into a suggested max_model_len too.
    """
    prompt = LEAST_ROOM if prompt_tokens is None else prompt_tokens
    fits = largest_max_tokens(max_model_len=max_model_len, prompt_tokens=prompt)
    if max_tokens <= fits:
        return
    if fits < LEAST_ROOM:
        needed = prompt + max(max_tokens, response_tokens or 0)
        yield Violation(
            key="rollout.max_model_len",
            message=f"prompt {prompt} ({prompt_source}) leaves no room for a response, because max_model_len is {max_model_len}; use at least {needed}",
            settings={"rollout.max_model_len": str(needed)},
        )
        return
    total = (
        f"max_tokens {max_tokens} leaves no room for a prompt"
        if prompt_tokens is None
        else f"prompt {prompt} ({prompt_source}) + max_tokens {max_tokens} = {prompt + max_tokens} tokens"
    )
    yield Violation(
        key="rollout.max_tokens",
        message=f"{total}, but max_model_len is {max_model_len}; use max_tokens of at most {fits}",
        settings={"rollout.max_tokens": str(fits)},
        fatal=not clamped or max_tokens > largest_max_tokens(max_model_len=max_model_len, prompt_tokens=LEAST_ROOM),
    )


def trajectory_violations(
    *, prompt_tokens: int, response_tokens: int, max_model_len: int, response_key: str = "data.max_response_tokens"
) -> Iterator[Violation]:
    """A rollout whose prompt and response, over all turns, exceed max_model_len."""
    total = prompt_tokens + response_tokens
    if total <= max_model_len:
        return
    room = max_model_len - prompt_tokens
    if room < LEAST_ROOM:
        yield Violation(
            key="rollout.max_model_len",
            message=f"prompt {prompt_tokens} leaves no room for a response, because max_model_len is {max_model_len}; use at least {total}",
            settings={"rollout.max_model_len": str(total)},
        )
        return
    yield Violation(
        key=response_key,
        message=f"prompt {prompt_tokens} + response {response_tokens} = {total} tokens, but max_model_len is {max_model_len}; use at most {room} response tokens, or max_model_len {total}",
        settings={response_key: str(room)},
        fatal=False,
    )


def training_violations(*, name: str, max_tokens: int, sequence_tokens: int) -> Iterator[Violation]:
    """A reply that may be longer than what the trainer takes of prompt and reply together: prime-rl cuts the rest."""
    if max_tokens > sequence_tokens:
        yield Violation(
            key="rollout.max_tokens",
            message=f"{name} is {max_tokens}, but training takes at most {sequence_tokens} tokens of prompt and reply together and cuts the rest; lower it to {sequence_tokens} less the length of a prompt, or raise the sequence length",
            settings={},
            fatal=False,
        )


def note_is_always_on(*, response_tokens: int, note_tokens: int) -> bool:  # FIX(AGT020)
    """Whether the note that few tokens are left would appear in the first turn already."""
    return response_tokens - note_tokens <= 0
