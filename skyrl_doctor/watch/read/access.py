"""What a server's own log tells of its requests: answered, refused, and how many tokens it makes.

INFO:     127.0.0.1:49748 - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request
INFO 11-21 03:39:30 [loggers.py:259] Engine 000: Avg prompt throughput: 1.9 tokens/s, Avg generation throughput: 0.8 tokens/s

Today's vLLM writes no reason beside a refusal: that it refuses, and finishes nothing, is what its log shows.
"""

import re
from collections import Counter
from collections.abc import Iterator

from skyrl_doctor.watch.observations import Observation, Served

LOGGED_EVERY_S = 10.0
_POST = re.compile(rb'"POST /\S*(?:completions|generate|messages|responses)\S* HTTP/[\d.]+" ([245])\d\d')
_MADE = re.compile(rb"Avg generation throughput: (\d+(?:\.\d+)?) tokens/s")


class Access:
    """Counts by log, since the watch began."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[str, str]] = Counter()
        self._tokens: Counter[str] = Counter()

    def take(self, path: str, text: bytes, at: float) -> Iterator[Observation]:
        answers = Counter(found[1] for found in _POST.finditer(text)) if b'"POST /' in text else Counter[bytes]()
        made = [float(found[1]) for found in _MADE.finditer(text)] if b"Avg generation" in text else []
        if not answers and not made:
            return
        for digit, count in answers.items():
            self._answers[path, digit.decode()] += count
        self._tokens[path] += round(sum(made) * LOGGED_EVERY_S)
        yield Served(
            at=at,
            url=path,
            generated_tokens=float(self._tokens[path]),
            finished=float(self._answers[path, "2"]),
            refused=float(self._answers[path, "4"]),
            failed=float(self._answers[path, "5"]),
        )
