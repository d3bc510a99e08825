"""The lengths of sequences that a run is expected to have, in tokens."""

import math
from typing import NamedTuple

from skyrl_train.memory.errors import BadJobError

AT_P99 = 2.3263  # standard deviations of a normal distribution below which 99 % lie


class Lengths(NamedTuple):
    """The median and the 99th percentile."""

    p50: int
    p99: int

    @property
    def spread(self) -> float:
        """The standard deviation of the logarithm."""
        return math.log(self.p99 / self.p50) / AT_P99

    @property
    def mean(self) -> float:
        """Above the median, since lengths are skewed: they are taken as log-normal."""
        return self.p50 * math.exp(self.spread**2 / 2)

    def of(self, sequences: int, replies: int = 1) -> int:
        """The 99th percentile of the tokens of a full micro batch, which holds so many replies to each prompt.

        The sum is taken as log-normal too, with the mean and the variance of the sum (Fenton and Wilkinson). Replies to one
        prompt count as equally long: in published logs of verl the ranks' tokens differ by as much
        (test_published_batches.py).
        """
        of_sum = math.log1p(math.expm1(self.spread**2) / -(-sequences // replies))
        return round(sequences * self.mean * math.exp(AT_P99 * math.sqrt(of_sum) - of_sum / 2))


def together(prompt: Lengths, reply: Lengths) -> Lengths:
    """The lengths of prompt and reply in one sequence, if the two do not depend on each other."""
    spread = math.hypot(prompt.p99 - prompt.p50, reply.p99 - reply.p50)
    p50 = prompt.p50 + reply.p50
    return Lengths(p50, p50 + round(spread))


def lengths_from(text: str) -> Lengths:
    """`P50,P99` as a user writes it."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(part.isdecimal() and len(part) <= 9 for part in parts):
        raise BadJobError(f"{text!r} is not P50,P99; expected two numbers of tokens, such as 400,1800")
    found = Lengths(int(parts[0]), int(parts[1]))
    if not 1 <= found.p50 <= found.p99:
        raise BadJobError(f"{text!r}: expected 1 or more tokens, and P99 not below P50")
    return found
