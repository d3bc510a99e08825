"""What the model is shown of a result."""

from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.agent.results import result_message, shortened


def test_a_short_result_is_shown_whole() -> None:
    assert shortened("a" * 30_000) == "a" * 30_000


def test_a_long_result_keeps_its_ends_and_says_what_is_missing() -> None:
    assert shortened("b" * 60 + "x" * 80 + "e" * 60, 100) == (
        "b" * 29 + "\n[… 143 of 200 characters left out here …]\n" + "e" * 28
    )


@given(st.text(), st.integers(-3, 300))
def test_never_longer_than_the_limit(text: str, limit: int) -> None:
    shown = shortened(text, limit)
    assert len(shown) <= max(limit, 0)
    assert (shown == text) == (len(text) <= limit) or limit < 80


def test_the_answer_to_a_call_names_the_tool_and_the_calls_not_run() -> None:
    assert result_message("terminal", "ok") == "EXECUTION RESULT of [terminal]:\nok"
    assert result_message("terminal", "ok", ignored_calls=2) == (
        "EXECUTION RESULT of [terminal]:\nok\n[Only the first call of a reply is run; 2 more were ignored.]"
    )
