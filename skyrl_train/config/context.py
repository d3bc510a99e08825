"""How many tokens fit into the context of the model server (CFG001, AGT020)."""

from collections.abc import Iterator

from skyrl_train.contracts.violation import Violation

LEAST_ROOM = 1
"""Tokens that a call must be able to generate at the least."""


def largest_max_tokens(*, max_model_len: int, prompt_tokens: int) -> int:  # FIX(CFG001)
    """The most tokens that a call with such a prompt may ask for; 0 or less where the prompt alone does not fit."""
    return max_model_len - prompt_tokens


def call_violations(
    *, max_tokens: int, max_model_len: int, prompt_tokens: int | None, prompt_source: str, clamped: bool
) -> Iterator[Violation]:
    """One model call: its prompt and max_tokens share max_model_len.

    Without a length of prompts, only a max_tokens that leaves no room at all is certain to be refused.
    `clamped`: the caller lowers max_tokens to what is left, as verl 0.9 and the trainer's own agent do. A number that not
    even an empty prompt leaves room for is meant for another context, and is refused all the same.
    """
    prompt = LEAST_ROOM if prompt_tokens is None else prompt_tokens
    fits = largest_max_tokens(max_model_len=max_model_len, prompt_tokens=prompt)
    if max_tokens <= fits:
        return
    if fits < LEAST_ROOM:
        yield Violation(
            key="rollout.max_model_len",
            message=f"prompts of {prompt} tokens ({prompt_source}) leave no room to generate in max_model_len {max_model_len}; wanted at least {prompt + max_tokens}",
            settings={"rollout.max_model_len": str(prompt + max_tokens)},
        )
        return
    beside = "any prompt" if prompt_tokens is None else f"prompts of {prompt} tokens ({prompt_source})"
    yield Violation(
        key="rollout.max_tokens",
        message=f"max_tokens {max_tokens} beside {beside} exceeds max_model_len {max_model_len}; wanted at most {fits}",
        settings={"rollout.max_tokens": str(fits)},
        fatal=not clamped or max_tokens > largest_max_tokens(max_model_len=max_model_len, prompt_tokens=LEAST_ROOM),
    )


def trajectory_violations(
    *, prompt_tokens: int, response_tokens: int, max_model_len: int, response_key: str = "data.max_response_tokens"
) -> Iterator[Violation]:
    """A whole trajectory: prompt and everything after it, over all turns, share max_model_len."""
    wanted = prompt_tokens + response_tokens
    if wanted <= max_model_len:
        return
    room = max_model_len - prompt_tokens
    if room < LEAST_ROOM:
        yield Violation(
            key="rollout.max_model_len",
            message=f"prompts of up to {prompt_tokens} tokens leave no room to generate in max_model_len {max_model_len}; wanted at least {wanted}",
            settings={"rollout.max_model_len": str(wanted)},
        )
        return
    yield Violation(
        key=response_key,
        message=f"{prompt_tokens} prompt tokens and {response_tokens} response tokens make {wanted}, more than max_model_len {max_model_len}; wanted at most {room} response tokens, or max_model_len {wanted}",
        settings={response_key: str(room)},
        fatal=False,
    )


def note_is_always_on(*, response_tokens: int, note_tokens: int) -> bool:  # FIX(AGT020)
    """Whether the note that few tokens are left would stand in the very first turn."""
    return response_tokens - note_tokens <= 0
