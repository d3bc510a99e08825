"""Would tokenising a reply's text again give the tokens that the engine wrote? Where not, training on text would train
on other tokens than were sampled (AGT016).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skyrl_train.contracts.agent.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Retokenised:
    """The first token of a reply that comes out otherwise; None stands for no token."""

    step: int
    position: int
    written: int | None
    encoded: int | None


def retokenised(transcript: Transcript, encode: Callable[[str], Sequence[int]]) -> list[Retokenised]:
    """The first difference of each reply. Tokens after the text, such as an end of turn, have no text to come from."""
    differences = []
    for number, step in enumerate(transcript.steps):
        written, encoded = step.reply.token_ids, tuple(encode(step.reply.text))
        if written[: len(encoded)] == encoded:
            continue
        position = next((i for i, (a, b) in enumerate(zip(written, encoded, strict=False)) if a != b), len(written))
        differences.append(Retokenised(number, position, next(iter(written[position:]), None), encoded[position]))
    return differences
