"""Which of some models a server runs: the log-probabilities of a fixed text, beside those of each model."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.weight_limits import LIMIT
from skyrl_train.rl.weight_proof import MOST_TOKENS, TEXT, mean_difference
from skyrl_train.torch_child import output_of

CHILD = Path(__file__).parent.parent / "rl" / "score_child.py"


@dataclass(frozen=True, slots=True)
class Scored:
    """The tokens of the fixed text, and a model's log-probabilities of all but the first."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """A model, and its mean difference from the server in nats."""

    model: str
    difference: float
    logprobs: tuple[float, ...] = ()

    @property
    def fits(self) -> bool:
        return self.difference <= LIMIT


def scored_by(directory: str, *, python: str, device: str, limit_s: float) -> Scored:
    """By a child process under a Python with torch and transformers. UsageError if that fails."""
    environ = {**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    words = (python, str(CHILD), directory, str(MOST_TOKENS), device, TEXT)
    return output_of(
        words,
        lambda output: Scored(output.integers("ids"), output.numbers("logprobs")),
        what=f"scoring {directory}",
        limit_s=limit_s,
        error=UsageError,
        env=environ,
    )


def compared(models: Sequence[tuple[str, Scored]], server: Sequence[float]) -> list[Compared]:
    """In the order of the models."""
    return [Compared(name, mean_difference(scored.logprobs, server), scored.logprobs) for name, scored in models]


def verdict(found: Sequence[Compared]) -> tuple[bool, str]:
    """Whether the server runs the first model, and a sentence."""
    first, nearest = found[0], min(found, key=lambda one: one.difference)
    if not nearest.fits:
        which = "none of them" if len(found) > 1 else f"not {first.model}"
        return False, f"the server runs {which}: the limit of two engines with the same weights is {LIMIT:g} nats"
    alike = [
        one
        for one in found
        if one is not nearest and mean_difference(one.logprobs, nearest.logprobs) < nearest.difference
    ]
    if alike:
        names = " or ".join(one.model for one in found if one is nearest or one in alike)
        return first is nearest or first in alike, f"the server runs {names}: they differ less than two engines do"
    if nearest is not first:
        return False, f"the server runs {nearest.model} rather than {first.model}"
    if len(found) == 1:
        return True, f"the server runs {first.model}, or weights a few steps from it: name other checkpoints to compare"
    return True, f"the server runs {first.model}"
