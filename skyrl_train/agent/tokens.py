"""Compares the engine's tokens with those that a reply's text gives. If they differ, training on the text would train on
tokens that were not sampled (AGT016).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skyrl_train.contracts.agent.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Retokenised:
    """The first different token of a reply. None means that there is no token."""

    step: int
    position: int
    written: int | None
    encoded: int | None


def retokenised(transcript: Transcript, encode: Callable[[str], Sequence[int]]) -> list[Retokenised]:
    """The first difference of each reply. Tokens after the text, such as an end of turn, are ignored."""
    differences = []
    for number, step in enumerate(transcript.steps):
        written, encoded = step.reply.token_ids, tuple(encode(step.reply.text))
        if written[: len(encoded)] == encoded:
            continue
        position = next((i for i, (a, b) in enumerate(zip(written, encoded, strict=False)) if a != b), len(written))
        differences.append(Retokenised(number, position, next(iter(written[position:]), None), encoded[position]))
    return differences
