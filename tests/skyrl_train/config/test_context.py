"""Tokens that fit."""

from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.config.context import call_violations, largest_max_tokens

TOKENS = st.integers(1, 10000)


@given(TOKENS, TOKENS, TOKENS)
def test_the_proposed_number_is_the_largest_that_fits(max_tokens: int, context: int, prompt: int) -> None:
    def told(tokens: int) -> list[str]:
        return [
            violation.settings.get("rollout.max_tokens", "")
            for violation in call_violations(
                max_tokens=tokens, max_model_len=context, prompt_tokens=prompt, prompt_source="x", clamped=False
            )
        ]

    fits = largest_max_tokens(max_model_len=context, prompt_tokens=prompt)
    if fits >= 1:
        assert told(max_tokens) == ([] if max_tokens <= fits else [str(fits)])
        assert told(fits) == []
        assert told(fits + 1) == [str(fits)]
    else:
        assert told(max_tokens) == [""]
