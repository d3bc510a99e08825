"""The tokens between two replies."""

from skyrl_train.contracts.agent.follow_up import MARK, added, after_reply, conversation


def test_what_follows_the_placeholder() -> None:
    assert [message["role"] for message in conversation("a")] == ["user", "assistant", "user"]
    assert after_reply(f"<u>-<a>{MARK}<end><u>a<a>") == "<end><u>a<a>"
    assert after_reply(f"<u>-<a>{MARK.lower()}<end>") is None


def test_an_end_of_turn_is_added_once() -> None:
    assert added((5, 9), (9, 1, 2)) == [1, 2]
    assert added((5,), (9, 1, 2)) == [9, 1, 2]
    assert added((), ()) == []
