"""The tokens between two replies of a rollout. Earlier tokens are never rendered again, so a turn cannot change them."""

from collections.abc import Sequence

MARK = "SKYRL-REPLY"
"""A placeholder reply, to find out what the template adds after a reply."""


def conversation(text: str) -> list[dict[str, str]]:  # FIX(MOD006)
    """What the chat template renders to give the tokens between a reply and the next one."""
    return [
        {"role": "user", "content": "-"},
        {"role": "assistant", "content": MARK},
        {"role": "user", "content": text},
    ]


def after_reply(rendered: str) -> str | None:  # FIX(MOD007)
    """The text after the placeholder; None if the template does not keep the text of a reply."""
    _, found, rest = rendered.partition(MARK)
    return rest if found else None


def added(reply: Sequence[int], follow_up: Sequence[int]) -> list[int]:
    """The tokens to add after a reply, with the end of turn only if the reply lacks it."""
    return list(follow_up[1:] if list(reply[-1:]) == list(follow_up[:1]) else follow_up)
